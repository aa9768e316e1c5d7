! Invalid calls: of a kind that Tally lacks, of unordered complex elements, and with expressions where a tally_vector
! or tally_csr would point.
program no_such_function
  use, intrinsic :: iso_fortran_env, only: int16
  use tally
  integer(int16) :: shorts(3) = 1
  complex :: z(3) = 1
  integer, target :: offsets(3) = [1, 2, 3], columns(2) = [1, 2]
  real, target :: values(2) = 1
  type(tally_vector) :: v
  type(tally_csr) :: a
  print *, tally_dot(shorts, shorts)
  print *, tally_min(z)
  v = tally_vector(2 * values)
  a = tally_csr(2, offsets - 1, columns, values)
end program
