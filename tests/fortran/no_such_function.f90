! Two calls that are errors: of a kind that Tally has not, and of complex elements, which have no order.
program no_such_function
  use, intrinsic :: iso_fortran_env, only: int16
  use tally
  integer(int16) :: shorts(3) = 1
  complex :: z(3) = 1
  print *, tally_dot(shorts, shorts)
  print *, tally_min(z)
end program
