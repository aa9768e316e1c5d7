! Arguments of a program's default kinds: compiled with the compiler's own, and with -fdefault-integer-8 and
! -fdefault-real-8 (elsewhere -i8 -r8). Each call has every scalar without a kind of its own.
program kinds
  use tally
  use, intrinsic :: iso_c_binding, only: c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  implicit none
  integer, parameter :: n = 1000
  real(real64) :: x(n), y(n), z(n), r
  real :: a(n)
  real(real64), target :: values(3) = [1, 2, 3]
  integer, target :: offsets(4) = [0, 1, 2, 3], columns(3) = [0, 1, 2]
  integer :: keys(n), counts(10), status, failures = 0
  integer(int32) :: short
  integer(int64) :: long
  character(80) :: text
  type(tally_executor) :: where
  type(tally_workspace) :: workspace
  type(tally_csr) :: matrix
  type(tally_spmv_plan) :: plan

  x = 0.1d0
  y = 0.3d0
  a = 0.5
  keys = 3
  status = -1
  where = tally_serial(stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_serial')
  where = tally_simd(instructions=TALLY_INSTRUCTIONS_BEST, stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_simd')
  where = tally_simd(instructions=77, stat=status, errmsg=text)
  call expect(status == TALLY_INVALID_ARGUMENT, 'an instruction set of the default kind')
  where = tally_openmp(threads=-2, stat=status, errmsg=text)
  call expect(status == TALLY_INVALID_ARGUMENT .or. status == TALLY_MISSING_BACKEND, 'threads=-2')
  where = tally_openmp(threads=huge(1_int64), stat=long, errmsg=text)
  call expect(long == TALLY_INVALID_ARGUMENT, 'threads=huge')
  where = tally_cuda(device=-77, stat=status)
  call expect(status /= TALLY_SUCCESS, 'device=-77')
  where = tally_openmp(threads=2, stat=status)
  if (status == TALLY_MISSING_BACKEND) where = tally_serial()

  r = tally_dot(x, y, where, stat=status)
  call expect(status == TALLY_SUCCESS .and. r == tally_dot(x, y), 'tally_dot')
  r = tally_dot(x, y(2:), where, stat=status, errmsg=text)
  call expect(status == TALLY_SIZE_MISMATCH .and. text == 'tally_dot: y has 999 elements, x has 1000', trim(text))
  call expect(tally_status_name(status) == 'size_mismatch', 'tally_status_name')
  call expect(tally_status_name(77) == 'unknown', 'tally_status_name of 77')
  r = tally_dot(x, y(2:), stat=short)
  call expect(short == TALLY_SIZE_MISMATCH, 'stat of 4 bytes')
  long = -1
  r = tally_dot(x, y(2:), stat=long)
  call expect(long == TALLY_SIZE_MISMATCH, 'stat of 8 bytes')
  r = tally_sum(a, grade=TALLY_GRADE_EXACT, stat=status)
  call expect(status == TALLY_SUCCESS .and. r == n / 2, 'tally_sum')
  z = y
  call tally_axpy(0.5, x, z, where, stat=status)
  call expect(status == TALLY_SUCCESS .and. all(z == 0.5d0 * x + y), 'tally_axpy')
  call tally_bincount(keys, counts, add=.false., channels=1, stat=status)
  call expect(status == TALLY_SUCCESS .and. counts(4) == n .and. sum(counts) == n, 'tally_bincount')
  call tally_bincount(keys(:0), counts, add=.true., stat=status)
  call expect(status == TALLY_SUCCESS .and. counts(4) == n, 'tally_bincount, added')
  call tally_workspace_create(workspace, where, stage_bytes=65536, threads=2, stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_workspace_create')
  call tally_workspace_create(workspace, where, threads=1000, stat=status)
  call expect(status == TALLY_INVALID_ARGUMENT, 'tally_workspace_create with 1000 threads')
  call tally_workspace_destroy(workspace)

  matrix = tally_csr(3, offsets, columns, values, operation=TALLY_TRANSPOSE, fixed_values=.true., &
                     fixed_columns=.true., stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_csr')
  call tally_validate(matrix, stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_validate')
  call tally_spmv_plan_create(plan, matrix, where, stat=status)
  call expect(status == TALLY_SUCCESS, 'tally_spmv_plan_create')
  call tally_spmv(matrix, x(:3), z(:3), plan=plan, where=where, stat=status)
  call expect(status == TALLY_SUCCESS .and. all(z(:3) == values * x(:3)), 'tally_spmv')
  call tally_spmv_plan_destroy(plan)
  if (failures > 0) error stop 'some checks have failed'
  print *, 'all checks have passed'

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine
end program
