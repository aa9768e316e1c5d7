! Conjugate gradients over MPI ranks in Fortran: as cg_mpi.cpp in the exact grade, with the same
! iterates bit for bit on any number of ranks.
!
!   mpiexec -n RANKS cg_fortran [--grid N] [--every N] [--grade exact|default] [--expect HASH]
!   [EXECUTOR...]
!
! Solves A x = b, A a 5-point Laplacian of N x N points and b all ones, and prints a hash of the
! bits of all iterates. The default grade, which module tally_mpi lacks, runs on one rank. Executors
! go to ranks in turn.
module linear_algebra
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08
  use tally
  use tally_mpi
  implicit none

  !> Rows first ... first + rows - 1 of the Laplacian, from 0. Columns are indices into [ghosts
  !> below | own | ghosts above], so that terms keep the whole matrix's order.
  type :: laplacian
    type(MPI_Comm) :: comm
    integer :: n, first, rows, below, above
    integer :: rank_below, rank_above
    integer(int32), allocatable :: row_offsets(:), columns(:)
    real(real64), allocatable :: values(:)
    type(tally_csr) :: local
    type(tally_spmv_plan) :: plan
  end type

  !> FNV-1a hash of the bits of doubles.
  type :: bit_hash
    integer(int64) :: value = int(z'cbf29ce484222325', int64)
  end type

contains

  subroutine make(a, comm, n, where)
    type(laplacian), intent(inout), target :: a
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    type(tally_executor), intent(in) :: where
    integer :: rank, ranks, row, terms
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    if (ranks > n) error stop 'cg_fortran: there are more ranks than rows of the grid'
    a%comm = comm
    a%n = n
    a%first = border(rank)
    a%rows = border(rank + 1) - a%first
    a%below = min(n, a%first)
    a%above = min(n, n * n - a%first - a%rows)
    a%rank_below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    a%rank_above = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    allocate(a%row_offsets(a%rows + 1), a%columns(5 * a%rows), a%values(5 * a%rows))
    a%row_offsets(1) = 0
    terms = 0
    do row = a%first, a%first + a%rows - 1
      if (row >= n) call add(row - n, -1d0)
      if (mod(row, n) > 0) call add(row - 1, -1d0)
      call add(row, 4d0)
      if (mod(row, n) < n - 1) call add(row + 1, -1d0)
      if (row < n * (n - 1)) call add(row + n, -1d0)
      a%row_offsets(row - a%first + 2) = terms
    end do
    a%local = tally_csr(a%below + a%rows + a%above, a%row_offsets, a%columns(:terms), a%values(:terms), &
                        fixed_columns=.true., fixed_values=.true.)
    call tally_spmv_plan_create(a%plan, a%local, where)
  contains
    integer function border(r)
      integer, intent(in) :: r
      border = int(int(n, int64) * n * r / ranks)
    end function

    subroutine add(column, value)
      integer, intent(in) :: column
      real(real64), intent(in) :: value
      terms = terms + 1
      a%columns(terms) = column - a%first + a%below
      a%values(terms) = value
    end subroutine
  end subroutine

  !> y = A x. x, this rank's part, has room on both sides for the neighbours' ghosts.
  subroutine multiply(a, x, y, where, grade)
    type(laplacian), intent(in) :: a
    real(real64), intent(inout) :: x(:)
    real(real64), intent(inout) :: y(:)
    type(tally_executor), intent(in) :: where
    integer, intent(in) :: grade
    integer :: own, above
    own = a%below + 1
    above = own + a%rows
    ! Every rank has at least n rows, so that ghosts come from adjacent ranks alone.
    call MPI_Sendrecv(x(own:own + a%n - 1), a%n, MPI_REAL8, a%rank_below, 0, &
                      x(above:), a%above, MPI_REAL8, a%rank_above, 0, a%comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(x(above - a%n:above - 1), a%n, MPI_REAL8, a%rank_above, 1, &
                      x(:a%below), a%below, MPI_REAL8, a%rank_below, 1, a%comm, MPI_STATUS_IGNORE)
    call tally_spmv(a%local, x, y, plan=a%plan, where=where, grade=grade)
  end subroutine

  real(real64) function inner(comm, x, y, where, grade)
    type(MPI_Comm), intent(in) :: comm
    real(real64), intent(in) :: x(:), y(:)
    type(tally_executor), intent(in) :: where
    integer, intent(in) :: grade
    if (grade == TALLY_GRADE_EXACT) then
      inner = tally_mpi_dot(x, y, comm, where)
    else
      inner = tally_dot(x, y, where)
    end if
  end function

  !> 16 hexadecimal digits, as in C++.
  function text_of(hash) result(text)
    type(bit_hash), intent(in) :: hash
    character(16) :: text
    integer :: i
    write (text, '(z16.16)') hash%value
    do i = 1, len(text)
      if (text(i:i) >= 'A') text(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function

  !> Hashes a distributed vector on rank 0, in rank order.
  subroutine add_to_hash(hash, comm, x)
    type(bit_hash), intent(inout) :: hash
    type(MPI_Comm), intent(in) :: comm
    real(real64), intent(in) :: x(:)
    real(real64), allocatable :: whole(:)
    integer, allocatable :: sizes(:), firsts(:)
    integer :: rank, ranks, i
    integer(int64), parameter :: lower_half = int(z'ffffffff', int64), prime = 435  ! and 2^40
    integer(int64) :: v, low, high
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    allocate(sizes(ranks), source=0)  ! only rank 0 receives them
    call MPI_Gather(size(x), 1, MPI_INTEGER, sizes, 1, MPI_INTEGER, 0, comm)
    firsts = [(sum(sizes(:i - 1)), i = 1, ranks)]
    allocate(whole(merge(sum(sizes), 0, rank == 0)))
    call MPI_Gatherv(x, size(x), MPI_REAL8, whole, sizes, firsts, MPI_REAL8, 0, comm)
    do i = 1, size(whole)
      ! The product modulo 2^64, from halves without overflow.
      v = ieor(hash%value, transfer(whole(i), v))
      low = iand(v, lower_half) * prime
      high = shiftr(v, 32) * prime + shiftr(low, 32) + iand(shiftl(v, 8), lower_half)
      hash%value = ior(shiftl(high, 32), iand(low, lower_half))
    end do
  end subroutine
end module

program cg_fortran
  use linear_algebra
  implicit none
  integer :: n = 100, every = 100, grade = TALLY_GRADE_EXACT, rank, ranks, k
  integer(int64) :: expected = 0
  logical :: is_expected = .false.
  character(16), allocatable :: executors(:)
  type(tally_executor) :: where
  type(laplacian), target :: a
  type(bit_hash) :: hash
  real(real64), allocatable :: x(:), r(:), q(:)
  real(real64), allocatable, target :: with_ghosts(:)
  real(real64), pointer :: p(:)
  real(real64) :: rr, next, alpha, norm, residual
  call read_command_line()
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (grade == TALLY_GRADE_DEFAULT .and. ranks > 1) error stop 'cg_fortran: the default grade needs one rank'
  where = tally_executor_named(executors(mod(rank, size(executors)) + 1))
  call make(a, MPI_COMM_WORLD, n, where)
  if (rank == 0) print '(i0, a, i0, a)', n * n, ' rows, ', ranks, ' ranks'

  allocate(x(a%rows), r(a%rows), q(a%rows), with_ghosts(a%below + a%rows + a%above))
  p => with_ghosts(a%below + 1:a%below + a%rows)
  call tally_fill(0, x, where)
  call tally_fill(1, r, where)
  call tally_fill(1, p, where)
  rr = inner(a%comm, r, r, where, grade)
  norm = sqrt(rr)
  residual = 1
  k = 0
  do while (residual > 1d-10 .and. k < 10000)
    call multiply(a, with_ghosts, q, where, grade)
    alpha = rr / inner(a%comm, p, q, where, grade)
    call tally_axpy(alpha, p, x, where)
    call tally_axpy(-alpha, q, r, where)
    next = inner(a%comm, r, r, where, grade)
    call tally_axpby(1d0, r, next / rr, p, where)
    rr = next
    k = k + 1
    call add_to_hash(hash, a%comm, x)
    residual = sqrt(rr) / norm
    if (rank == 0 .and. (residual <= 1d-10 .or. (every > 0 .and. mod(k, max(every, 1)) == 0))) then
      print '(i8, es11.3, 2x, a)', k, residual, text_of(hash)
    end if
  end do
  call tally_spmv_plan_destroy(a%plan)
  call MPI_Finalize()
  if (rank == 0 .and. is_expected .and. hash%value /= expected) then
    error stop 'cg_fortran: the iterates are NOT those that were expected'
  end if

contains

  subroutine read_command_line()
    character(64) :: word, value
    integer :: i
    allocate(executors(0))
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      call get_command_argument(i + 1, value)
      select case (word)
      case ('--grid')
        read(value, *) n
      case ('--every')
        read(value, *) every
      case ('--expect')
        read(value, '(z16)') expected
        is_expected = .true.
      case ('--grade')
        grade = merge(TALLY_GRADE_EXACT, TALLY_GRADE_DEFAULT, value == 'exact')
      case default
        executors = [character(16) :: executors, word]
        i = i - 1
      end select
      i = i + 2
    end do
    if (size(executors) == 0) executors = [character(16) :: 'serial', 'simd']
  end subroutine
end program
