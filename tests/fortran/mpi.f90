! Module tally_mpi: every type and pair of types, over ranks with different parts, one of them empty; bits equal to
! the exact grade's for the whole vectors.
program mpi_tests
  use, intrinsic :: iso_c_binding, only: c_bool, c_int
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use mpi_f08
  use tally
  use tally_mpi
  implicit none
  integer, parameter :: n = 3000
  logical(c_bool) :: a_bool(n)
  integer(int8) :: a_int8(n)
  integer(int32) :: a_int32(n)
  integer(int64) :: a_int64(n)
  real(real32) :: a_float32(n), s
  real(real64) :: a_float64(n), u(n), v(n), r
  complex(real32) :: a_complex64(n)
  complex(real64) :: a_complex128(n)
  integer :: rank, ranks, i, j, stat, other, failures = 0, all_failures
  type(MPI_Comm) :: comm
  type(MPI_Errhandler) :: handler
  type(tally_executor) :: where, none
  character(:), allocatable :: what
  character(200) :: text
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  do i = 1, n  ! the same on all ranks
    u(i) = sin(real(i * i, real64)) * 2d0**mod(i * 7, 60)
    v(i) = cos(real(i, real64))
  end do
  call MPI_Bcast(u, n, MPI_REAL8, 0, comm)
  call MPI_Bcast(v, n, MPI_REAL8, 0, comm)
  a_float64 = u
  a_float32 = real(u, real32)
  a_complex64 = cmplx(v, u, real32)
  a_complex128 = cmplx(u, v, real64)
  a_int64 = int(v * 2d0**40, int64)
  a_int32 = int(v * 2d0**30, int32)
  a_int8 = int(v * 120, int8)
  a_bool = v > 0
  ! Rank r has i ... j; of three ranks the second has nothing.
  i = n * rank / ranks + 1
  j = n * (rank + 1) / ranks
  if (ranks == 3) then
    i = merge(1, n / 4, rank == 0)
    j = merge(n / 4 - 1, merge(n / 4 - 1, n, rank == 1), rank == 0)
  end if

  what = 'bool'
  associate (x => a_bool)
    include 'mpi_pairs.inc'
  end associate
  what = 'int8'
  associate (x => a_int8)
    include 'mpi_pairs.inc'
  end associate
  what = 'int32'
  associate (x => a_int32)
    include 'mpi_pairs.inc'
  end associate
  what = 'int64'
  associate (x => a_int64)
    include 'mpi_pairs.inc'
  end associate
  what = 'float32'
  associate (x => a_float32)
    include 'mpi_pairs.inc'
  end associate
  what = 'float64'
  associate (x => a_float64)
    include 'mpi_pairs.inc'
  end associate
  what = 'complex64'
  associate (x => a_complex64)
    include 'mpi_pairs.inc'
  end associate
  what = 'complex128'
  associate (x => a_complex128)
    include 'mpi_pairs.inc'
  end associate

  r = tally_mpi_dot(a_float64(j:i:-1), a_float32(j:i:-1), comm%MPI_VAL, where=tally_serial())
  call expect(r == tally_dot(a_float64, a_float32, grade=TALLY_GRADE_EXACT), 'a communicator that is an integer')

  ! An error on one rank is one on all, which then go on.
  other = merge(1, 0, rank == ranks - 1)
  s = tally_mpi_dot(a_float32(i:j), a_int8(i:j + other), comm, stat=stat, errmsg=text)
  call expect(stat == TALLY_SIZE_MISMATCH, 'an error on the last rank')
  if (rank == ranks - 1) then
    call expect(index(text, 'tally_mpi_dot: y has ') == 1, 'the text on the rank that has failed')
  else
    call expect(text == 'tally_mpi_dot: it has failed on another rank: size_mismatch', 'the text on other ranks')
  end if
  ! Where ranks fail differently, all have the lowest one's status, and each message names its rank.
  if (ranks > 1) then
    where = tally_serial()
    if (rank == 0) where = none
    s = tally_mpi_dot(a_float32(i:j), a_int8(i:j + other), comm, where, stat=stat, errmsg=text)
    call expect(stat == TALLY_INVALID_ARGUMENT, 'two errors')
    if (rank == 0) then
      call expect(index(text, 'tally_mpi_dot: it') == 0 .and. index(text, 'executor') > 0, 'the text on the lowest rank')
    else if (rank == ranks - 1) then
      call expect(index(text, 'tally_mpi_dot: it has failed on another rank: invalid_argument; on this one: &
                              &tally_mpi_dot: y has ') == 1, 'the text on a rank with another error')
    else
      call expect(text == 'tally_mpi_dot: it has failed on another rank: invalid_argument', 'the text where there is none')
    end if
  end if
  ! MPI's own failure, on an invalid communicator; its errors are returned for that.
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  r = tally_mpi_sum(a_float64(i:j), MPI_COMM_NULL, stat=stat, errmsg=text)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
  call expect(stat == TALLY_DEVICE_FAILURE .and. text == 'tally_mpi_sum: MPI has failed on this rank: device_failure', &
              "MPI's own failure")
  r = tally_mpi_sum(a_float64(i:j), 1d0, stat=stat)
  call expect(stat == TALLY_INVALID_ARGUMENT, 'what is no communicator')
  r = tally_mpi_sum(a_float64(i:j), comm)
  call expect(r == tally_sum(a_float64, grade=TALLY_GRADE_EXACT), 'a sum after errors')

  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Finalize()
  if (all_failures > 0) error stop

contains

  subroutine expect(condition, name)
    logical, intent(in) :: condition
    character(*), intent(in) :: name
    if (condition) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ' failed: ', name
  end subroutine
end program
