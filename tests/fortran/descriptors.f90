! Every operation on arrays whose descriptors gfortran leaves incomplete, as after x = reshape(...) with x
! unallocated: whole, as sections forwards and backwards, read and written. Compared with plain arrays.
program descriptors
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use tally
  implicit none
  integer, parameter :: n = 120
  ! Stack contents; none is a structure's size.
  integer(int64), parameter :: spans(*) = [0_int64, 1_int64, -8_int64, 77777_int64, huge(0_int64)]
  integer, parameter :: first(*) = [1, 1, n, 2, n], last(*) = [n, n, 1, n, 4], steps(*) = [1, 1, -1, 3, -5]
  integer(int32), target :: row_offsets(n + 1), columns(n)
  real(real64), target :: values(n)
  integer :: checks = 0, failures = 0, which, i, j
  logical :: past_the_last = .false.

  interface
    !> Overwrites the span in gfortran's descriptor of an array (check.c); 0 if it isn't gfortran's.
    integer(c_int) function spoil_vector(x, span)
      import
      real(real64), allocatable, intent(inout) :: x(:)
      integer(c_int64_t), intent(in) :: span
    end function
    integer(c_int) function spoil_table(x, span)
      import
      real(real64), allocatable, intent(inout) :: x(:, :)
      integer(c_int64_t), intent(in) :: span
    end function
    integer(c_int) function spoil_integers(x, span)
      import
      integer(int64), allocatable, intent(inout) :: x(:)
      integer(c_int64_t), intent(in) :: span
    end function
  end interface
  interface spoil
    procedure :: spoil_vector, spoil_table, spoil_integers
  end interface

  row_offsets = [(i, i = 0, n)]
  columns = row_offsets(:n)
  values = 2
  operations: do which = 1, huge(which)
    do i = 1, size(spans)
      do j = 1, size(steps)
        call compare(which, spans(i), j)
        if (past_the_last) exit operations
      end do
    end do
  end do operations
  call matrices_of_vectors()
  call assigned()
  call components()
  print '(i0, a, i0, a)', checks, ' checks, ', failures, ' failed'
  if (failures > 0) error stop

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    checks = checks + 1
    if (condition) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine

  subroutine run(which, x, y, z, indices, counts, edges, table, words, others, r)
    integer, intent(in) :: which
    real(real64), intent(inout) :: x(..), y(..), z(..), counts(..), edges(..), table(..)
    integer(int64), intent(inout) :: indices(..), words(..), others(..)
    real(real64), intent(out) :: r(4)
    type(tally_csr) :: matrix
    type(tally_executor) :: host
    integer(int64) :: i, j
    integer :: m
    r = 0
    i = 0
    j = 0
    m = size(x)
    host = tally_serial()
    matrix = tally_csr(m, row_offsets(:m + 1), columns(:m), values(:m))
    select case (which)
    case (1); r(1) = tally_dot(x, y)
    case (2); r(1) = tally_sum(x)
    case (3); r(1) = tally_asum(x)
    case (4); r(1) = tally_nrm2(x)
    case (5); r(1) = tally_min(x, i)
    case (6); r(1) = tally_max(x, i)
    case (7); call tally_minmax(x, r(1), r(2), i, j)
    case (8); i = tally_iamax(x)
    case (9); call tally_dot_into(x, y, r(1))
    case (10); call tally_sum_into(x, r(1))
    case (11); call tally_asum_into(x, r(1))
    case (12); call tally_nrm2_into(x, r(1))
    case (13); call tally_copy(x, z)
    case (14); call tally_fill(3, z)
    case (15); call tally_swap(x, z)
    case (16); call tally_gather(x, indices, z)
    case (17); call tally_scatter(x, indices, z)
    case (18); call tally_scal(2, x)
    case (19); call tally_axpy(2, x, z)
    case (20); call tally_axpby(2, x, 3, z)
    case (21); call tally_waxpby(2, x, 3, y, z)
    case (22); call tally_axpbypcz(2, x, 3, y, 4, z)
    case (23); call tally_add(x, y, z)
    case (24); call tally_sub(x, y, z)
    case (25); call tally_mul(x, y, z)
    case (26); call tally_axypbz(2, x, y, 3, z)
    case (27); call tally_relu(x, z)
    case (28); call tally_sigmoid(x, z)
    case (29); call tally_exp(x, z)
    case (30); call tally_axpy_dot(2, x, z, r(1), v=y)
    case (31); call tally_waxpby_nrm2(2, x, 3, y, z, r(1))
    case (32); call tally_bincount(indices, counts, weights=x)
    case (33); call tally_histogram_even(x, -60, 61, counts, weights=y)
    case (34); call tally_histogram_range(x, edges, counts, weights=y)
    case (35); call tally_spmv(matrix, x, z)
    case (36); call tally_spmv_apart(matrix, x, y, z, alpha=2, beta=3)
    case (37); call tally_multi_dot_into(table, x, r(:2))
    case (38); call tally_batched_dot_into(table, table, r(:2))
    case (39); call tally_merge_words(words, TALLY_FLOAT64, others)
    case (40); call tally_round_words(words, r(1), TALLY_FLOAT64)
    case (41); call tally_round_root_words(words, r(1), TALLY_FLOAT64)
    case (42); call tally_device_copy(words, others, host)
    case (43); call tally_pin(words, host)
    case (44); call tally_unpin(words, host)
    case (45); call tally_multi_axpy([3.0, 2.0], table, 2, x)
    case (46); call tally_segmented_sum([0, size(edges)], edges, r(:1))
    case (47); call tally_multi_axpy_dot([3.0, 2.0], table, 2, x, r(:2))
    case default; past_the_last = .true.
    end select
    r(3:) = real([i, j], real64)
  end subroutine

  !> The first form is whole arrays.
  subroutine compare(which, span, form)
    integer, intent(in) :: which, form
    integer(int64), intent(in) :: span
    real(real64) :: px(n), py(n), pz(n), pcounts(n), pedges(n + 1), ptable(n, 2), pr(4), r(4)
    real(real64), allocatable :: x(:), y(:), z(:), counts(:), edges(:), table(:, :)
    integer(int64) :: pindices(n), pwords(tally_exact_words(TALLY_FLOAT64)), pothers(size(pwords))
    integer(int64), allocatable :: indices(:), words(:), others(:)
    integer :: i, f, l, s, m
    character(60) :: what
    f = first(form)
    l = last(form)
    s = steps(form)
    px = [(mod(i * 7, n) - 60, i = 1, n)]
    py = [(mod(i * 11, 13), i = 1, n)]
    pz = [(i, i = 1, n)]
    pcounts = 0
    pedges = [(i, i = -60, n - 60)]
    ptable = reshape([px, py], [n, 2])
    m = (l - f) / s + 1
    pindices = [(int(mod(7 * i, m), int64), i = 0, n - 1)]  ! m is no multiple of 7
    pwords = 0
    pothers = 0
    call tally_sum_into(py, pwords, sum_type=TALLY_FLOAT64)
    call tally_sum_into(pz, pothers, sum_type=TALLY_FLOAT64)
    x = px
    y = py
    z = pz
    counts = pcounts
    edges = pedges
    table = ptable
    indices = pindices
    words = pwords
    others = pothers
    i = spoil(x, span) + spoil(y, span) + spoil(z, span) + spoil(counts, span) + spoil(edges, span) + spoil(table, span) &
      + spoil(indices, span) + spoil(words, span) + spoil(others, span)
    if (form == 1) then
      call run(which, x, y, z, indices, counts, edges, table, words, others, r)
      call run(which, px, py, pz, pindices, pcounts, pedges, ptable, pwords, pothers, pr)
    else
      call run(which, x(f:l:s), y(f:l:s), z(f:l:s), indices(:m), counts, edges, table(f:l:s, :), words, others, r)
      call run(which, px(f:l:s), py(f:l:s), pz(f:l:s), pindices(:m), pcounts, pedges, ptable(f:l:s, :), pwords, &
               pothers, pr)
    end if
    write (what, '(a, i0, a, i0, a, i0)') 'operation ', which, ', span ', span, ', step ', s
    call expect(all(x == px) .and. all(y == py) .and. all(z == pz) .and. all(counts == pcounts) .and. &
                all(words == pwords) .and. all(r == pr), what)
  end subroutine

  subroutine matrices_of_vectors()
    real(real64), allocatable :: x(:, :), y(:)
    real(real64) :: plain(12, 3), py(12)
    integer :: i
    plain = reshape([(real(i, real64), i = 1, 36)], [12, 3])
    py = plain(:, 2)
    x = plain
    y = py
    i = spoil(x, 0_int64) + spoil(y, 0_int64)
    call expect(all(tally_multi_dot(x, y) == tally_multi_dot(plain, py)), 'multi_dot')
    call expect(all(tally_batched_dot(x(12:1:-1, :), x(:, 3:1:-1)) == &
                    tally_batched_dot(plain(12:1:-1, :), plain(:, 3:1:-1))), 'batched_dot')
  end subroutine

  !> Descriptors that gfortran itself leaves incomplete.
  subroutine assigned()
    real(real64) :: x(3, 4), y(12), z(12), total, r
    real(real64), allocatable :: a(:), b(:), c(:), d(:), e(:, :), f(:, :)
    real(real64), allocatable, target :: terms(:)
    integer(int32), allocatable :: g(:)
    integer(int32), allocatable, target :: places(:)
    type(tally_csr) :: matrix
    integer :: i, stat
    x = reshape([(real(i, real64), i = 1, 12)], [3, 4])
    total = sum(x)
    call soil()
    a = reshape(x, [12])
    b = pack(x, .true.)
    c = cshift(a, 1)
    d = matmul(x, [1d0, 1d0, 1d0, 1d0])
    e = spread(a, 1, 2)
    f = matmul(x, transpose(x))
    g = maxloc(x)
    r = tally_sum(a, stat=stat)
    call expect_or_refusal(stat, r == total, 'reshape')
    r = tally_sum(a(12:1:-1), stat=stat)
    call expect_or_refusal(stat, r == total, 'reshape, backwards')
    r = tally_sum(b, stat=stat)
    call expect_or_refusal(stat, r == total, 'pack')
    r = tally_sum(c, stat=stat)
    call expect_or_refusal(stat, r == total, 'cshift')
    r = tally_sum(d, stat=stat)
    call expect_or_refusal(stat, r == total, 'matmul with a vector')
    r = tally_sum(e, stat=stat)
    call expect_or_refusal(stat, r == 2 * total, 'spread')
    r = tally_sum(f, stat=stat)
    call expect_or_refusal(stat, r == sum(f), 'matmul')
    r = tally_sum(g, stat=stat)
    call expect_or_refusal(stat, r == sum(g), 'maxloc')
    terms = pack(x, .true.)
    places = reshape(columns(:12), [12])
    matrix = tally_csr(12, row_offsets(:13), places, terms)
    y = -1
    call tally_spmv(matrix, y, z)
    call expect(all(z == -terms), 'tally_csr of what was allocated so')
  end subroutine

  !> Expects a condition, unless a span that a structure may have was on the stack.
  subroutine expect_or_refusal(stat, condition, what)
    integer, intent(in) :: stat
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    call expect(condition .or. stat == TALLY_INVALID_ARGUMENT .and. index(tally_last_error(), 'allocate') > 0, what)
  end subroutine

  subroutine soil()
    integer(int64) :: numbers(300)
    numbers = 77777
    call look_at(numbers)
  end subroutine
  subroutine look_at(numbers)
    integer(int64), intent(in) :: numbers(:)
    call expect(numbers(size(numbers)) == 77777, 'numbers')
  end subroutine

  !> A span that could be a structure's is ambiguous: an error, and nothing written.
  subroutine components()
    type large
      real(real64) :: first, rest(9999)
    end type
    complex(real64), target :: z(12)
    type(large), target, allocatable :: structures(:)
    real(real64), pointer :: parts(:)
    real(real64), allocatable :: x(:), y(:)
    character(200) :: text
    integer :: stat, i
    z = [(cmplx(i, 100 * i, real64), i = 1, 12)]
    parts => z%im
    call expect(tally_sum(parts) == 7800, 'a pointer to components')
    call passed(parts)
    allocate (structures(12))
    do i = 1, 12
      structures(i)%first = 100 * i
      structures(i)%rest = -1
    end do
    parts => structures%first
    call expect(tally_sum(parts) == 7800, 'a pointer to components of large structures')
    call passed(parts)
    x = real(z)
    y = x
    if (spoil(x, 16_int64) == 0) return
    call tally_axpy(1, y, x, stat=stat, errmsg=text)
    if (stat == TALLY_SUCCESS) then  ! gfortran 12
      call expect(all(x == 2 * y), 'axpy')
    else
      call expect(stat == TALLY_INVALID_ARGUMENT .and. text == 'tally_axpy: y is a pointer to components 16 bytes ' &
                  // 'apart, or gfortran says so of an array that is none; pass a contiguous copy, or allocate the ' &
                  // 'array before it is assigned to', 'a span that could be a structure''s')
      call expect(all(x == y), 'nothing was written')
    end if
    call expect(tally_sum(x(1:1)) == x(1), 'one element')
  end subroutine

  subroutine passed(parts)
    real(real64), pointer, intent(in) :: parts(:)
    real(real64) :: r
    integer :: stat
    r = tally_sum(parts, stat=stat)
    call expect(stat == TALLY_INVALID_ARGUMENT .or. r == 7800, 'a pointer to components, passed on')
  end subroutine
end program
