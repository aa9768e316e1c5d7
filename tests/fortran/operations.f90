! Every operation of module tally, every type and pair of types, sections and ranks: bits equal to those of tally.h on
! contiguous copies (check.c), or to Fortran's own expressions where exact.
module checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tally
  implicit none
  integer :: failures = 0, count = 0
  integer, parameter :: m = 1500, k = 70, room = 4800
  logical(c_bool) :: a_bool(room), b_bool(k, 6)
  integer(int8) :: a_int8(room), b_int8(k, 6)
  integer(int32) :: a_int32(room), b_int32(k, 6)
  integer(int64) :: a_int64(room), b_int64(k, 6)
  real(real32) :: a_float32(room), b_float32(k, 6)
  real(real64) :: a_float64(room), b_float64(k, 6)
  complex(real32) :: a_complex64(room), b_complex64(k, 6)
  complex(real64) :: a_complex128(room), b_complex128(k, 6)

  interface
    integer(c_int) function check_dots(results, x, y, parts, parts_of_y, grade, conjugate) bind(C)
      import
      type(*), intent(in) :: results(..), x(..), y(..)
      integer(c_int), value :: parts, parts_of_y, grade, conjugate
    end function
    integer(c_int) function check_reduce(result, x, which, grade) bind(C)
      import
      type(*), intent(in) :: result(..), x(..)
      integer(c_int), value :: which, grade
    end function
    integer(c_int) function check_extreme(result, index, x, which) bind(C)
      import
      type(*), intent(in) :: result(..), x(..)
      integer(c_int64_t), value :: index
      integer(c_int), value :: which
    end function
    integer(c_int) function check_iamax(index, x) bind(C)
      import
      integer(c_int64_t), value :: index
      type(*), intent(in) :: x(..)
    end function
    integer(c_int) function check_map(result, x, function_of_c) bind(C)
      import
      type(*), intent(in) :: result(..), x(..)
      type(c_funptr), value :: function_of_c
    end function
    subroutine c_relu() bind(C, name='tally_relu')
    end subroutine
    subroutine c_sigmoid() bind(C, name='tally_sigmoid')
    end subroutine
    subroutine c_exp() bind(C, name='tally_exp')
    end subroutine
  end interface

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    count = count + 1
    if (condition) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine

  subroutine expect_failure(stat, status, text, what)
    integer, intent(in) :: stat, status
    character(*), intent(in) :: text, what
    call expect(stat == status, what // ': ' // tally_status_name(stat))
    if (tally_last_error() /= text) print '(3a)', tally_last_error(), ' should be ', text
    call expect(tally_last_error() == text, what // ': text')
  end subroutine

  logical function dots(r, x, y, grade, conjugate)
    type(*), intent(in) :: r(..), x(..), y(..)
    integer, intent(in), optional :: grade, conjugate
    integer :: g, c
    g = TALLY_GRADE_DEFAULT
    c = TALLY_CONJUGATE_NONE
    if (present(grade)) g = grade
    if (present(conjugate)) c = conjugate
    dots = check_dots(r, x, y, 1, 1, g, c) /= 0
  end function

  logical function columns(r, x, y, parts_of_y)
    type(*), intent(in) :: r(..), x(..), y(..)
    integer, intent(in), optional :: parts_of_y
    integer :: parts
    parts = 1
    if (present(parts_of_y)) parts = parts_of_y
    columns = check_dots(r, x, y, 4, parts, TALLY_GRADE_DEFAULT, TALLY_CONJUGATE_NONE) /= 0
  end function

  subroutine make_data()
    real(real64) :: u(room), v(room)
    call random_number(u)
    call random_number(v)
    u = u - 0.5d0
    a_float64 = u * exp(10 * v)
    a_float32 = real(u * exp(5 * v), real32)
    a_complex128 = cmplx(a_float64, v, real64)
    a_complex64 = cmplx(v, a_float32, real32)
    a_int64 = int(u * 2d0**60, int64)
    a_int32 = int(v * 2d0**30, int32)
    a_int8 = int(u * 250, int8)
    a_bool = u > 0.1d0
    b_float64 = reshape(a_float64, [k, 6])
    b_float32 = reshape(a_float32, [k, 6])
    b_complex128 = reshape(a_complex128, [k, 6])
    b_complex64 = reshape(a_complex64, [k, 6])
    b_int64 = reshape(a_int64, [k, 6])
    b_int32 = reshape(a_int32, [k, 6])
    b_int8 = reshape(a_int8, [k, 6])
    b_bool = reshape(a_bool, [k, 6])
  end subroutine

  ! --- Every pair of types ---------------------------------------------------------------------------------------

  subroutine every_pair()
    character(:), allocatable :: what
    what = 'dot, bool '
    associate (x => a_bool(room:room - m + 1:-1), c => b_bool(:, 1:4))
      include 'pairs.inc'
    end associate
    what = 'dot, int8 '
    associate (x => a_int8(room:room - m + 1:-1), c => b_int8(:, 4:1:-1))
      include 'pairs.inc'
    end associate
    what = 'dot, int32 '
    associate (x => a_int32(2:2 * m:2), c => b_int32(:, 2:5))
      include 'pairs.inc'
    end associate
    what = 'dot, int64 '
    associate (x => a_int64(:m), c => b_int64(:, :4))
      include 'pairs.inc'
    end associate
    what = 'dot, float32 '
    associate (x => a_float32(room:room - 3 * m + 1:-3), c => b_float32(:, 1:4))
      include 'pairs.inc'
    end associate
    what = 'dot, float64 '
    associate (x => a_float64(3:3 * m:3), c => b_float64(:, 3:6))
      include 'pairs.inc'
    end associate
    what = 'dot, complex64 '
    associate (x => a_complex64(m:1:-1), c => b_complex64(k:1:-1, 1:4))
      include 'pairs.inc'
    end associate
    what = 'dot, complex128 '
    associate (x => a_complex128(:m), c => b_complex128(:, 6:3:-1))
      include 'pairs.inc'
    end associate
  end subroutine

  ! --- Every type ------------------------------------------------------------------------------------------------

  subroutine every_type()
    character(:), allocatable :: what
    integer(int64) :: at
    what = 'bool'
    associate (x => a_bool)
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'int8'
    associate (x => a_int8(room:1:-1))
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'int32'
    associate (x => b_int32)
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'int64'
    associate (x => a_int64(::7))
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'float32'
    associate (x => b_float32(k:1:-1, 6:1:-1))
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'float64'
    associate (x => b_float64(2:k:2, :))  ! one stride, for k is even
      include 'types.inc'
      include 'extrema.inc'
    end associate
    what = 'complex64'
    associate (x => a_complex64(room:1:-3))
      include 'types.inc'
    end associate
    what = 'complex128'
    associate (x => b_complex128(:, 3))
      include 'types.inc'
    end associate
  end subroutine

  ! --- The second form, words and lists --------------------------------------------------------------------------

  subroutine results()
    real(real64) :: r, s, rs(4)
    real(real32) :: f
    complex(real64) :: z
    integer(int64) :: words(tally_exact_words(TALLY_FLOAT64)), others(tally_exact_words(TALLY_FLOAT64))
    integer(int64) :: many(tally_exact_words(TALLY_FLOAT32), 4)
    real(real64), target :: x(100), y(100)
    real(real32), target :: u(30, 2)
    complex(real64), target :: w(30)
    real(real64), pointer :: parts(:), nowhere(:)
    type(tally_vector) :: none(0), rest
    integer :: stat
    call tally_dot_into(a_float32, a_float32, r)
    call expect(r == tally_dot(real(a_float32, real64), a_float32), 'dot of singles in double')
    call tally_dot_into(a_complex64, a_bool, z, conjugate=TALLY_CONJUGATE_X)
    call expect(z == conjg(tally_dot(cmplx(a_complex64, kind=real64), a_bool)), 'dot of complex singles in double')
    call tally_sum_into(a_int8, r, grade=TALLY_GRADE_EXACT)
    call expect(r == sum(int(a_int8)), 'sum of integers in double')
    call tally_asum_into(a_int8, r)
    call expect(r == sum(abs(int(a_int8))), 'asum of integers in double')
    call tally_nrm2_into(a_float32, r)
    call expect(r == tally_nrm2(real(a_float32, real64)), 'nrm2 of singles in double')
    call tally_multi_dot_into(b_float32(:, 1:4), b_float32(:, 1), rs)
    call expect(all(rs == tally_multi_dot(real(b_float32(:, 1:4), real64), b_float32(:, 1))), 'multi_dot in double')
    call tally_sums_into(b_float32(:, 1:4), rs)
    call expect(all(rs == tally_sums(real(b_float32(:, 1:4), real64))), 'sums in double')
    call expect(rs(3) == tally_sum(real(b_float32(:, 3), real64)), 'sums of columns')
    call tally_sums_into(b_float32(4:1:-1, :), rs, dim=2)
    call expect(rs(2) == tally_sum(real(b_float32(3, :), real64)), 'sums of rows')
    call tally_gemv(real(b_float32(1:4, 1:3), real64), b_float32(1:3, 5), rs)
    call expect(rs(2) == tally_dot(real(b_float32(2, 1:3), real64), b_float32(1:3, 5)), 'gemv')
    rs = 1
    call tally_gemv(b_float32(1:3, 1:4), real(b_float32(1:3, 5), real64), rs, alpha=2.0_real64, beta=3.0_real64, &
                    operation=TALLY_TRANSPOSE, grade=TALLY_GRADE_EXACT)
    call expect(rs(4) == 2 * tally_dot(b_float32(1:3, 4), real(b_float32(1:3, 5), real64), grade=TALLY_GRADE_EXACT) + 3, &
                'gemv of a transpose')
    call tally_batched_dot_into(b_float32(:, 1:4), b_float32(:, 3:6), rs, grade=TALLY_GRADE_EXACT)
    call expect(all(rs == tally_batched_dot(real(b_float32(:, 1:4), real64), b_float32(:, 3:6), &
                                            grade=TALLY_GRADE_EXACT)), 'batched_dot in double')

    words = 0
    others = 0
    call tally_dot_into(a_float64(:2000), a_float32(:2000), words, sum_type=TALLY_FLOAT64)
    call tally_dot_into(a_float64(room:2001:-1), a_float32(room:2001:-1), others, sum_type=TALLY_FLOAT64, &
                        where=tally_serial())
    call tally_merge_words(words, TALLY_FLOAT64, others)
    call tally_merge_words(words, TALLY_FLOAT64)
    call tally_round_words(words, r, TALLY_FLOAT64)
    call expect(r == tally_dot(a_float64, a_float32, grade=TALLY_GRADE_EXACT), 'words of a dot product')
    words = 0
    call tally_nrm2_into(a_float64(::2), words, sum_type=TALLY_FLOAT64)
    call tally_nrm2_into(a_float64(2::2), words, sum_type=TALLY_FLOAT64)
    call tally_round_root_words(words, r, TALLY_FLOAT64)
    call expect(r == tally_nrm2(a_float64, grade=TALLY_GRADE_EXACT), 'words of a norm')
    words = 0
    call tally_sum_into(a_float64, words, sum_type=TALLY_FLOAT64)
    call tally_asum_into(a_float64, words, sum_type=TALLY_FLOAT64)
    call tally_round_words(words, r, TALLY_FLOAT64)
    call tally_sum_into(2 * pack(a_float64, a_float64 > 0), s, grade=TALLY_GRADE_EXACT)
    call expect(r == s, 'words of a sum and a sum of magnitudes')
    many = 0
    call tally_multi_dot_into(b_float32(:, 1:4), b_float32(:, 5), many, sum_type=TALLY_FLOAT32)
    call tally_round_words(many, rs, TALLY_FLOAT32)
    call expect(all(real(rs, real32) == tally_multi_dot(b_float32(:, 1:4), b_float32(:, 5), grade=TALLY_GRADE_EXACT)), &
                'words of several dot products')
    call expect(tally_exact_words(TALLY_FLOAT64) == 137 .and. tally_exact_words(TALLY_INT8) == 0, 'exact_words')
    call expect(tally_exact_sum_type(TALLY_FLOAT32, TALLY_INT8, TALLY_FLOAT64) == TALLY_FLOAT32, 'exact_sum_type')

    x = a_float64(:100)
    y = a_float64(200:101:-1)
    u = b_float32(:30, :2)
    call tally_multi_dot_list([tally_vector(x), tally_vector(x(7:1:-2)), tally_vector(y(3:3))], &
                              [tally_vector(u(:, 1)), tally_vector(u(2:8:2, 2)), tally_vector(u(1:1, 1))], rs(:3), &
                              stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, &
                        'tally_multi_dot_list: y(1) has 30 elements, x(1) has 100', 'a list of other sizes')
    call tally_multi_dot_list([tally_vector(x(:30)), tally_vector(x(7:1:-2)), tally_vector(y(3:3))], &
                              [tally_vector(u(:, 1)), tally_vector(u(2:8:2, 2)), tally_vector(u(1:1, 1))], rs(:3))
    call expect(rs(1) == tally_dot(x(:30), u(:, 1)) .and. rs(2) == tally_dot(x(7:1:-2), u(2:8:2, 2)) .and. &
                rs(3) == y(3) * u(1, 1), 'multi_dot_list')
    w = a_complex128(:30)
    parts => w(30:1:-2)%im
    call tally_multi_dot_list([tally_vector(parts), tally_vector(x(::7))], [tally_vector(y(:15)), tally_vector(x(:15))], &
                              rs(:2))
    call expect(rs(1) == tally_dot(aimag(w(30:1:-2)), y(:15)) .and. rs(2) == tally_dot(x(::7), x(:15)), &
                'multi_dot_list of a pointer to components')
    nullify(nowhere)
    rest = tally_vector(nowhere, stat)
    call expect(stat == TALLY_NULL_POINTER .or. stat == TALLY_SUCCESS, 'a pointer to nothing')  ! or of no elements
    call tally_multi_dot_list(none, none, u(1:0, 1), stat=stat)
    call expect(stat == TALLY_SUCCESS, 'a list of nothing, into singles')
    call tally_multi_dot_into(u(:, 1:0), y(:30), rs(:0), stat=stat)
    call expect(stat == TALLY_SUCCESS, 'multi_dot of no columns')
    call tally_multi_dot_into(u(:, 1:2:-1), y(30:1:-1), rs(:0), stat=stat)
    call expect(stat == TALLY_SUCCESS, 'multi_dot of no columns, backwards')
    f = tally_dot(a_float32(1:0), a_float32(1:0))
    call expect(f == 0, 'dot of nothing')
    call expect(tally_dot(a_float64(5:5), a_int8(9:9)) == a_float64(5) * a_int8(9), 'dot of one element')
  end subroutine

  ! --- Element-wise functions: small integers, so that Fortran's expressions have the same bits ---------------------

  subroutine element_wise()
    real(real64) :: x(10, 4, 3), y(10, 4, 3), z(10, 4, 3), v(240), r, n
    real(real32) :: f(120)
    integer(int32) :: i(120), j(120)
    integer(int64) :: indices(60)
    complex(real64) :: w(120)
    complex(real32) :: c(120)
    real(real64), allocatable :: e(:)
    type :: point
      real(real64) :: mass
      complex(real32) :: place
    end type
    type(point) :: points(120)
    real(real64) :: columns(30, 4), pair(2)
    integer :: l
    i = [(l - 60, l = 1, 120)]
    j = mod(i * 7, 13)
    f = real(j)
    w = cmplx(i, j, real64)
    x = reshape(real(i, real64), shape(x))
    y = reshape(real(j, real64), shape(y))

    z = -1
    call tally_copy(x, z)
    call expect(all(z == x), 'copy')
    call tally_copy(i, f(120:1:-1))
    call expect(all(f == i(120:1:-1)), 'copy of integers to reals, backwards')
    f = j
    v = 7
    call tally_copy(w%re, v(::2))
    call expect(all(v(::2) == i) .and. all(v(2::2) == 7), 'copy of real parts')
    points%mass = i
    points%place = cmplx(j, i)
    call tally_copy(points%mass, v(2::2))
    call expect(all(v(2::2) == i), 'copy of components')
    call tally_copy(points%place, c)
    call expect(all(c == points%place), 'copy of complex components')
    call tally_axpy(1, i, points%mass)
    call expect(all(points%mass == 2 * i) .and. all(points%place == c), 'axpy to components')
    call tally_fill(3, z)
    call expect(all(z == 3), 'fill')
    call tally_fill((1.0, 2.0), c(::3))
    call expect(all(c(::3) == (1.0, 2.0)) .and. all(c(2::3) == points(2::3)%place), 'fill with a stride')
    z = x
    e = reshape(y, [120])
    call tally_swap(z, e(120:1:-1))
    call expect(all(reshape(z, [120]) == j(120:1:-1)) .and. all(e == i(120:1:-1)), 'swap')
    columns = reshape(real(j, real64), [30, 4])
    call tally_segmented_sum([0, 30, 30, 120], columns, v(:3))
    call expect(v(1) == sum(j(:30)) .and. v(2) == 0 .and. v(3) == sum(j(31:)), 'segmented_sum')
    call tally_segmented_sum([0, 30, 30, 120], j, indices(:3))
    call expect(all(indices(:3) == [sum(j(:30)), 0, sum(j(31:))]), 'segmented_sum of integers')
    v(:30) = i(:30)
    call tally_multi_axpy([2.0, 3.0], columns(:, 4:1:-3), 10d0, v(:30))
    call expect(all(v(:30) == 10 * i(:30) + 2 * columns(:, 4) + 3 * columns(:, 1)), 'multi_axpy')
    v(:30) = i(:30)
    call tally_multi_axpy_dot([2.0, 3.0], columns(:, 4:1:-3), 10d0, v(:30), pair)
    call expect(all(v(:30) == 10 * i(:30) + 2 * columns(:, 4) + 3 * columns(:, 1)) .and. &
                all(pair == tally_multi_dot(columns(:, 4:1:-3), v(:30))), 'multi_axpy_dot')
    indices = [(2 * l - 1, l = 60, 1, -1)]
    v = 0
    call tally_gather(x, indices, v(60:1:-1))
    call expect(all(v(:60) == i(2::2)), 'gather')
    e = 0
    call tally_scatter(v(:60), int(indices, int32), e)
    call expect(all(e(2::2) == i(120:2:-2)) .and. all(e(1::2) == 0), 'scatter')
    e(1) = 0.5
    call tally_scatter_add(v(:3), [0, 119, 0], e)
    call expect(e(1) == 0.5 + v(1) + v(3) .and. e(120) == i(2) + v(2) .and. e(2) == i(120), 'scatter_add')

    z = x
    call tally_scal(2.0, z)
    call expect(all(z == 2 * x), 'scal')
    z = y
    call tally_axpy(3d0, x, z)
    call expect(all(z == 3 * x + y), 'axpy')
    z = y
    call tally_axpy(3, x(:, 4:1:-1, 2), z(:, 3, :), stat=l)
    call expect_failure(l, TALLY_INVALID_ARGUMENT, 'tally_axpy: the elements of x have more than one stride: 8 bytes, &
                        &and -80 where dimension 2 goes on; pass a contiguous copy, or a part of it at a time', &
                        'a section with two strides')
    call expect(all(z == y), 'a section with two strides: nothing is written')
    call tally_axpy(3, x(4, 2, 3:1:-2), z(1:2, 3, 1))
    call expect(all(z(1:2, 3, 1) == y(1:2, 3, 1) + 3 * x(4, 2, 3:1:-2)), 'axpy of sections')
    z = y
    call tally_axpby(2, x, -1, z)
    call expect(all(z == 2 * x - y), 'axpby')
    call tally_waxpby(2, x, -1.0, i, z)
    call expect(all(z == 2 * x - reshape(i, shape(x))), 'waxpby')
    z = 5
    call tally_axpbypcz(2_int8, x, 3_int64, y, -1d0, z)
    call expect(all(z == 2 * x + 3 * y - 5), 'axpbypcz')
    call tally_add(x, f, z)
    call expect(all(z == x + y), 'add')
    call tally_sub(i, y, z)
    call expect(all(z == x - y), 'sub')
    call tally_mul(i(120:1:-1), j, e)
    call expect(all(e == real(i(120:1:-1), real64) * j), 'mul')
    z = 1
    call tally_axypbz(2.0, x, f, 3, z)
    call expect(all(z == 2 * x * y + 3), 'axypbz')
    e(:) = a_float64(:120)
    call tally_relu(a_float64(:120), z)
    call expect(check_map(z, a_float64(:120), c_funloc(c_relu)) /= 0, 'relu')
    call tally_sigmoid(a_float64(:120), z)
    call expect(check_map(z, a_float64(:120), c_funloc(c_sigmoid)) /= 0, 'sigmoid')
    call tally_exp(a_float32(240:2:-2), f(:120))
    call expect(check_map(f(:120), a_float32(240:2:-2), c_funloc(c_exp)) /= 0, 'exp')

    call tally_inclusive_scan(a_float64(240:1:-2), e)
    call expect(all(e == [(tally_sum(a_float64(240:242 - 2 * l:-2)), l = 1, 120)]), 'inclusive_scan')
    call tally_exclusive_scan(a_float64(240:1:-2), v(239:1:-2))
    call expect(v(239) == 0 .and. all(v(237:1:-2) == e(:119)), 'exclusive_scan')

    z = y
    call tally_axpy_dot(-2d0, x, z, r)
    call expect(all(z == y - 2 * x) .and. dots(r, z, z), 'axpy_dot')
    z = y
    call tally_axpy_dot(-2d0, x, z, r, v=f, grade=TALLY_GRADE_EXACT)
    call expect(all(z == y - 2 * x) .and. dots(r, z, f, grade=TALLY_GRADE_EXACT), 'axpy_dot with a third vector')
    call tally_waxpby_nrm2(2, x, 3, y, z, n)
    call expect(all(z == 2 * x + 3 * y) .and. n == tally_nrm2(z), 'waxpby_nrm2')
  end subroutine

  ! --- Histograms ------------------------------------------------------------------------------------------------

  subroutine histograms()
    integer(int32) :: counts(0:9), keys(100), two(4, 2)
    integer(int64) :: long(10), outside(3), outsides(3, 2), words(tally_exact_words(TALLY_FLOAT64), 2)
    real(real64) :: sums(2), x(12), weights(12)
    real(real64), allocatable :: others(:)
    character(60) :: text
    integer :: l, stat
    keys = [(mod(l * l, 10), l = 1, 100)]
    call tally_bincount(keys, counts)
    call expect(all(counts == [(count_of(keys == l), l = 0, 9)]), 'bincount')
    call tally_bincount(keys(::2), counts, add=.true.)
    call expect(all(counts == [(count_of(keys == l) + count_of(keys(::2) == l), l = 0, 9)]), 'bincount that adds')
    call tally_bincount(keys, counts(0:7), stat=stat)
    call expect(stat == TALLY_KEY_OUT_OF_RANGE, 'a key without a bin')
    call tally_bincount(keys, counts(0:7), outside=outside)
    call expect(all(outside == [0, count_of(keys > 7), 0]), 'bincount with keys outside')
    x = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, -1.0, 5.0, 6.0]
    weights = [(l, l = 1, 12)]
    call tally_histogram_even(x, 0d0, 4d0, long(1:4), outside=outside)
    call expect(all(long(1:4) == [2, 2, 2, 3]) .and. all(outside == [1, 2, 0]), 'histogram_even')
    call tally_histogram_even(x, 0.0, 4.0, two, outside=outsides, channels=2_int64)
    call expect(all(two(:, 1) == [1, 1, 1, 2]) .and. all(two(:, 2) == [1, 1, 1, 1]), 'histogram_even of two channels')
    call expect(all(outsides == reshape([0, 1, 0, 1, 1, 0], [3, 2])), 'outside of two channels')
    call tally_histogram_range(x, [0d0, 1d0, 4d0], sums, weights=weights)
    call expect(all(sums == [3d0, 42d0]), 'histogram_range with weights')
    words = 0
    call tally_histogram_range(x, [0, 1, 4], words, weights=weights)
    call tally_histogram_range(x(::2), [0, 1, 4], words, weights=weights(::2), add=.true.)
    call tally_round_words(words, sums, TALLY_FLOAT64)
    call expect(all(sums == [4d0, 66d0]), 'histogram_range into words')
    ! Weights of no elements change neither exact sums nor real counts.
    call tally_bincount(keys(1:0), words, weights=[real(real64) ::])
    call tally_bincount(keys(1:0), words, weights=weights(1:0))
    call tally_histogram_even(x(1:0), 0d0, 4d0, words, weights=[real(real64) ::])
    call tally_histogram_range(x(1:0), [0, 1, 4], words, weights=[real(real64) ::], add=.false._c_bool)
    allocate(others(0))
    call tally_bincount(keys(1:0), words, weights=others, add=.false.)
    deallocate(others)
    call tally_round_words(words, sums, TALLY_FLOAT64)
    call expect(all(sums == [4d0, 66d0]), 'words and weights of no elements')
    call tally_bincount(keys(1:0), sums, weights=[real(real64) ::])
    call expect(all(sums == 0), 'real counts and weights of no elements')
    allocate(others(12))
    deallocate(others)
    call tally_histogram_range(x, [0, 1, 4], sums, weights=others, stat=stat)
    call expect(stat /= TALLY_SUCCESS, 'weights that are not allocated')
    text = repeat('x', 60)
    call tally_bincount(keys, counts, add=1.0, stat=stat, errmsg=text)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_bincount: add must be a logical scalar', 'add=1.0')
    call expect(text == 'tally_bincount: add must be a logical scalar', 'errmsg of a histogram')
    call tally_bincount(keys, counts, add=1.0, stat=stat, errmsg=text(3:7))
    call expect(text(:8) == 'tatallyi', 'a short errmsg of a histogram')
    call tally_histogram_range(x, [0, 1, 4], counts(0:4), stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, &
                        'tally_histogram_range: edges has 3 elements, and one more than bins are 6', 'too few edges')
  end subroutine

  pure integer function count_of(mask)
    logical, intent(in) :: mask(:)
    count_of = 0
    count_of = sum(merge(1, 0, mask))
  end function

  ! --- Sparse matrices -------------------------------------------------------------------------------------------

  subroutine sparse()
    ! 1 2 0 0
    ! 0 0 3 0
    ! 4 0 5 6
    integer(int32), target :: offsets(4) = [0, 2, 3, 6], indices(6) = [0, 1, 2, 0, 2, 3], wrong(6) = [0, 1, 2, 0, 2, 4]
    integer(int64), target :: begins(3) = [3_int64, 2_int64, 0_int64], ends(3) = [6_int64, 3_int64, 2_int64]
    real(real64), target :: values(6) = [1d0, 2d0, 3d0, 4d0, 5d0, 6d0]
    real(real64) :: x(4) = [1d0, 10d0, 100d0, 1000d0], y(3), z(3), grid(2, 2), table(4, 2), many(3, 2)
    complex(real64) :: w(2, 4)
    real(real64), pointer :: lost(:)
    type(tally_csr) :: a, t, none
    type(tally_spmv_plan) :: plan
    integer :: stat
    a = tally_csr(4, offsets, indices, values)
    call tally_validate(a)
    call tally_spmv(a, x, y)
    call expect(all(y == [21d0, 300d0, 6504d0]), 'spmv')
    call tally_spmv(a, x(4:1:-1), y, alpha=2, beta=-1.0, grade=TALLY_GRADE_EXACT)
    call expect(all(y == 2 * [1200d0, 30d0, 4056d0 - 0] - [21d0, 300d0, 6504d0]), 'spmv with factors')
    y = 7
    call tally_spmv_apart(a, x, y, z, alpha=-1d0, beta=1d0)
    call expect(all(z == 7 - [21d0, 300d0, 6504d0]) .and. all(y == 7), 'spmv_apart')
    table(:, 1) = x
    table(:, 2) = x(4:1:-1)
    call tally_spmm(a, table, many)
    call expect(all(many(:, 1) == [21d0, 300d0, 6504d0]) .and. all(many(:, 2) == [1200d0, 30d0, 4056d0]), 'spmm')
    call tally_spmm(a, table(:, 2:1:-1), many, alpha=2, beta=-1)
    call expect(all(many(:, 1) == 2 * [1200d0, 30d0, 4056d0] - [21d0, 300d0, 6504d0]), 'spmm of columns backwards')
    call tally_spmm(a, table(:3, :), many, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_spmm: a column of x has 3 elements, and the columns of the &
                        &matrix are 4', 'spmm of too few rows')
    call tally_spmm(a, table, many(:, :1), stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_spmm: y has 1 columns, x has 2', 'spmm of other columns')
    block
      real(real64) :: scaled(6)
      call tally_diagonal(a, y)
      call expect(all(y == [1d0, 0d0, 5d0]), 'diagonal')
      call tally_row_norms(TALLY_NORM_ONE, a, z)
      call expect(all(z == [3d0, 3d0, 15d0]), 'row_norms, sums')
      call tally_row_norms(TALLY_NORM_INFINITY, a, z(3:1:-1), grade=TALLY_GRADE_EXACT)
      call expect(all(z == [6d0, 3d0, 2d0]), 'row_norms, largest')
      call tally_scale_rows(a, y, scaled)
      call expect(all(scaled == [1d0, 2d0, 0d0, 20d0, 25d0, 30d0]), 'scale_rows')
      call tally_diagonal(a, x, stat=stat)
      call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_diagonal: d has 4 elements, the diagonal of the matrix has 3', &
                          'a diagonal of another size')
      call tally_scale_rows(a, y, scaled(:5), stat=stat)
      call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_scale_rows: z has 5 elements, the values of the matrix are 6', &
                          'too few values')
    end block
    block
      integer(int32) :: rows_of(5) = [2, 0, 2, 0, 2], sorted(5)
      integer(int64) :: columns_of(5) = [3, 1, 0, 1, 3], made_offsets(4), stored
      real(real64) :: sums(5)
      stored = -1
      call tally_csr_from_coo(4, rows_of, columns_of, values(1:5), made_offsets, sorted, sums, stored)
      call expect(stored == 3 .and. all(made_offsets == [0, 1, 1, 3]) .and. all(sorted(:3) == [1, 0, 3]) .and. &
                  all(sums(:3) == [6d0, 3d0, 6d0]), 'csr_from_coo')
      call tally_csr_from_coo(4, rows_of(1:2), columns_of(5:1:-4), values(6:5:-1), made_offsets, sorted, sums, stored, &
                              grade=TALLY_GRADE_EXACT)
      call expect(stored == 2 .and. all(made_offsets == [0, 1, 1, 2]) .and. all(sorted(:2) == [3, 3]) .and. &
                  all(sums(:2) == [5d0, 6d0]), 'csr_from_coo of sections')
      call tally_csr_from_coo(3, rows_of, columns_of, values(1:5), made_offsets, sorted, sums, stored, stat=stat)
      call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally::csr_from_coo: column_indices[0] is 3; there are 3 &
                          &columns', 'csr_from_coo of an entry outside')
      call tally_csr_from_coo(4, rows_of, columns_of, values(1:5), made_offsets, sorted(:4), sums, stored, stat=stat)
      call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_csr_from_coo: sorted_columns has 4 elements; 5 are needed', &
                          'csr_from_coo without room')
    end block
    grid = reshape(x, [2, 2])
    w = 0
    call tally_spmv(a, grid, w(1, 1:3))
    call expect(all(w(1, 1:3) == [21d0, 300d0, 6504d0]) .and. all(w(2, :) == 0), 'spmv of a grid into a section')
    t = tally_csr(4, offsets, indices, values, operation=TALLY_TRANSPOSE)
    call tally_spmv(t, [1d0, 1d0, 1d0], x)
    call expect(all(x == [5d0, 2d0, 8d0, 6d0]), 'spmv of the transpose')
    x = [1d0, 10d0, 100d0, 1000d0]
    a = tally_csr(4_int64, begins, indices, values, row_ends=ends)
    call tally_spmv(a, x, y)
    call expect(all(y == [6504d0, 300d0, 21d0]), 'spmv of rows with ends')

    a = tally_csr(4, offsets, indices, values, fixed_values=.true., fixed_columns=.true.)
    call tally_spmv_plan_create(plan, a, where=tally_simd())
    call tally_spmv(a, x, y, plan=plan, where=tally_simd())
    call expect(all(y == [21d0, 300d0, 6504d0]), 'spmv with a plan')
    call expect(len(tally_spmv_plan_describe(plan)) > 0, 'a plan is described')
    call tally_spmv_plan_create(plan, tally_csr(4, offsets, wrong, values), where=tally_simd(), stat=stat)
    call expect(stat == TALLY_INVALID_ARGUMENT, 'a plan of a wrong matrix')
    y = 0
    call tally_spmv(a, x, y, plan=plan, where=tally_simd())
    call expect(all(y == [21d0, 300d0, 6504d0]), 'spmv with the plan that stays')
    call tally_spmv_plan_create(plan, a, where=tally_simd())  ! ends the one before, as a leak checker would see
    call tally_spmv(a, x, y, plan=plan, where=tally_simd())
    call expect(all(y == [21d0, 300d0, 6504d0]), 'spmv with a plan made again')
    call tally_spmv_plan_destroy(plan)
    call tally_spmv_plan_destroy(plan)
    call tally_spmv(a, x, y, plan=plan, stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_spmv: plan was not made, or is destroyed', &
                        'spmv with a plan that is destroyed')
    call tally_spmv_apart(a, x, y, z, plan=plan, stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_spmv_apart: plan was not made, or is destroyed', &
                        'spmv_apart with a plan that is destroyed')
    nullify(lost)
    none = tally_csr(4, offsets, indices, lost, stat=stat)
    call expect(stat == TALLY_NULL_POINTER .or. stat == TALLY_SIZE_MISMATCH, 'values that point at nothing')

    call tally_spmv(a, x(:3), y, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_spmv: x has 3 elements, and the columns of the matrix are 4', &
                        'a short x')
    call tally_spmv(t, y, x(:3), stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_spmv: y has 3 elements, and the columns of the matrix are 4', &
                        'a short y')
    a = tally_csr(4, offsets, wrong, values)
    call tally_validate(a, stat=stat)
    call expect(stat == TALLY_INVALID_ARGUMENT, 'a column that is not there')
    a = tally_csr(4, offsets, indices(:5), values, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_csr: column_indices has 5 elements, values has 6', &
                        'a short list of columns')
  end subroutine

  ! --- Executors and names ---------------------------------------------------------------------------------------

  subroutine executors()
    type(tally_backend), allocatable :: list(:)
    type(tally_executor) :: where, none
    character(100) :: text
    integer :: i, stat
    list = tally_executors()
    call expect(list(1)%name == 'serial' .and. list(1)%usable .and. list(2)%name == 'simd', 'the list of executors')
    do i = 1, size(list)
      if (.not. list(i)%usable .or. list(i)%name == 'cuda') cycle
      where = tally_executor_named(list(i)%name)
      call expect(tally_executor_name(where) == trim(list(i)%name), 'the name of an executor')
      call expect(dots(tally_dot(a_float64, a_float32, where), a_float64, a_float32), 'dot on ' // list(i)%name)
      call expect(dots(tally_dot(a_float64, a_float32, where, TALLY_GRADE_EXACT), a_float64, a_float32, &
                       TALLY_GRADE_EXACT), 'exact dot on ' // list(i)%name)
    end do
    call expect(tally_executor_name(tally_serial()) == 'serial', 'serial')
    call expect(tally_executor_name(tally_simd(TALLY_INSTRUCTIONS_BASELINE)) == 'simd', 'simd')
    call expect(tally_executor_name(tally_automatic()) == 'automatic', 'automatic')
    where = tally_openmp(threads=3, stat=stat)
    call expect(stat == TALLY_SUCCESS .or. stat == TALLY_MISSING_BACKEND, 'openmp')
    where = tally_kokkos(stat)
    call expect(stat == TALLY_SUCCESS .or. stat == TALLY_MISSING_BACKEND .or. stat == TALLY_NO_DEVICE, 'kokkos')
    where = tally_cuda(stat=stat)
    call expect(stat == TALLY_SUCCESS .or. stat == TALLY_MISSING_BACKEND .or. stat == TALLY_NO_DEVICE, 'cuda')
    where = tally_executor_named('abacus', stat, text)
    call expect(stat == TALLY_MISSING_BACKEND .and. index(text, 'abacus') > 0, 'an executor that is not there')
    call expect(tally_sum([1, 2, 3], none, stat=stat) == 0 .and. stat == TALLY_INVALID_ARGUMENT, &
                'an executor that nobody has made')
    call expect(tally_version() == tally_version() .and. tally_library_order_version() == TALLY_ORDER_VERSION, 'versions')
    call expect(tally_status_name(TALLY_OVERLAP) == 'overlap' .and. tally_type_name(TALLY_COMPLEX64) == 'complex64' .and. &
                tally_type_size(TALLY_COMPLEX64) == 8, 'names')
  end subroutine

  ! --- Memory, and workspaces: on executors of the host ------------------------------------------------------------

  subroutine memory()
    type(tally_executor) :: where
    type(tally_workspace) :: workspace
    type(c_ptr) :: address, pinned
    real(real64), pointer :: x(:), y(:)
    real(real64), target :: z(100, 2)
    integer :: stat
    where = tally_serial()
    address = tally_device_alloc(800_c_size_t, where)
    pinned = tally_pinned_alloc(800_c_size_t, where)
    call c_f_pointer(address, x, [100])
    call c_f_pointer(pinned, y, [100])
    y = a_float64(:100)
    call tally_device_copy(x, y, where)
    call tally_device_copy(z(:, 2), x, where)
    call expect(all(z(:, 2) == a_float64(:100)), 'memory of an executor')
    call tally_device_copy(x, z(::2, 2), where, stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, &
                        'tally_device_copy: from has a stride of 2 elements; it must be contiguous', 'a strided copy')
    call tally_device_copy(x, y(:99), where, stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_device_copy: to has 100 elements, from has 99', 'a short copy')
    call tally_device_copy(x, a_float32(:100), where, stat)
    call expect_failure(stat, TALLY_UNSUPPORTED_TYPE, 'tally_device_copy: to is of type float64, from of float32', &
                        'a copy that would convert')
    call tally_device_free(address, where)
    call tally_pinned_free(pinned, where)
    call expect(.not. c_associated(address) .and. .not. c_associated(pinned), 'memory that is freed')
    call tally_device_free(address, where)
    address = tally_device_alloc(8_c_size_t, tally_automatic(), stat)
    call expect(stat == TALLY_INVALID_ARGUMENT .and. .not. c_associated(address), 'memory of no executor')
    call tally_pin(z, where)
    call tally_unpin(z, where)
    call tally_pin(z(::2, 1), where, stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_pin: x has a stride of 2 elements; it must be contiguous', &
                        'pinning what has gaps')
    call tally_workspace_create(workspace, where, stage_bytes=2**16, threads=2)
    call tally_workspace_create(workspace, tally_simd())
    where = tally_workspace_executor(workspace)
    call expect(tally_executor_name(where) == 'simd', 'the executor of a workspace')
    call expect(dots(tally_dot(a_float64, a_float32, where), a_float64, a_float32), 'dot on a workspace')
    call tally_workspace_create(workspace, where, stage_bytes=-1, stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_workspace_create: stage_bytes is -1', 'stage_bytes')
    call tally_workspace_create(workspace, where, stage_bytes=7, stat=stat)
    call expect(stat == TALLY_INVALID_ARGUMENT, 'few stage_bytes, from the library')
    call tally_workspace_destroy(workspace)
    call tally_workspace_destroy(workspace)
    where = tally_workspace_executor(workspace, stat)
    call expect(stat == TALLY_NULL_POINTER, 'the executor of a workspace that is destroyed')
  end subroutine

  ! --- Errors ---------------------------------------------------------------------------------------------------

  subroutine refusals()
    real(real64) :: x(5), y(4), r, two(2, 2), rs(3)
    integer(int16) :: shorts(5)
    logical :: flags(5)
    character(3) :: texts(5)
    character(200) :: text
    integer(int64) :: words(10)
    integer :: stat
    x = 1
    y = 1
    two = 1
    r = tally_dot(x, y, stat=stat, errmsg=text)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_dot: y has 4 elements, x has 5', 'dot of other sizes')
    call expect(text == tally_last_error() .and. r == 0, 'errmsg')
    r = tally_dot(x, two, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_dot: y has 4 elements, x has 5', 'dot of other shapes')
    r = tally_dot(two, y)
    call expect(r == 4, 'dot of a matrix and a vector')
    r = tally_sum(x(1), stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_sum: x is a scalar; it must be an array', 'sum of a scalar')
    call tally_scal(x, y, stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_scal: alpha has rank 1; it must be a scalar', &
                        'a factor that is an array')
    call tally_axpy(1d0, shorts, y, stat=stat)
    call expect_failure(stat, TALLY_UNSUPPORTED_TYPE, 'tally_axpy: x has elements of 2 bytes that are none of integer &
                        &of 1, 4 or 8 bytes, logical(c_bool), real or complex of single or double precision', &
                        'integers of two bytes')
    call tally_copy(flags, x, stat=stat)
    call expect(stat == TALLY_UNSUPPORTED_TYPE, 'logicals of default kind')
    call tally_copy(texts, x, stat=stat)
    call expect(stat == TALLY_UNSUPPORTED_TYPE, 'characters')
    call tally_add(x, x, y, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_add: z has 4 elements, x has 5', 'add to a short vector')
    call tally_copy(x(1:4), x(2:5), stat=stat)
    call expect(stat == TALLY_OVERLAP .and. index(tally_last_error(), 'tally::') == 1, 'overlap, from the library')
    call tally_dot_into(x, x, words, sum_type=TALLY_FLOAT64, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, &
                        'tally_dot: result has 10 elements, and the words of 1 sums are 137', 'too few words')
    call tally_multi_dot_into(two, y(1:2), rs, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, &
                        'tally_multi_dot: results has 3 elements, and the number of results is 2', 'too many results')
    call tally_multi_dot_into(x, y, rs, stat=stat)
    call expect_failure(stat, TALLY_INVALID_ARGUMENT, 'tally_multi_dot: x has rank 1; it must have rank 2', &
                        'multi_dot of a vector')
    rs(1:2) = tally_multi_dot(two, y, stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_multi_dot: y has 4 elements, a column of x has 2', &
                        'multi_dot of other sizes')
    rs(1:2) = tally_batched_dot(two, two(:, 1:1), stat=stat)
    call expect_failure(stat, TALLY_SIZE_MISMATCH, 'tally_batched_dot: y has 1 columns, x has 2', &
                        'batched_dot of other numbers')
    r = tally_min(x(1:0), stat=stat)
    call expect(stat == TALLY_NO_ELEMENTS, 'min of nothing')
    call tally_minmax(x, r, shorts(1), stat=stat)
    call expect(stat == TALLY_UNSUPPORTED_TYPE, 'minmax into another type')
    call assumed_size(x)
  contains
    subroutine assumed_size(a)
      real(real64), intent(in) :: a(*)
      call expect(tally_sum(a(1:5)) == 5, 'sum of a section of an array of assumed size')
    end subroutine
  end subroutine
end module

program operations
  use checks
  implicit none
  call make_data()
  call every_pair()
  call every_type()
  call results()
  call element_wise()
  call histograms()
  call sparse()
  call executors()
  call memory()
  call refusals()
  print '(i0, a, i0, a)', count, ' checks, ', failures, ' failed'
  if (failures > 0) error stop
end program
