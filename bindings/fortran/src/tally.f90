! Written by bindings/fortran/generate from tally.f90.in: change that.
!> Tally from Fortran: dot products and reductions, element-wise maps, histograms and sparse products, with the same
!> bits on every executor. See docs/fortran.md for usage, and tally.h for the formula, types and errors of each
!> operation, under the same name.
!>
!> Arrays are integer of 1, 4 or 8 bytes, logical(c_bool), real or complex of single or double precision, in any pair,
!> of any rank above 0: their elements in array order. A section is used in place where its elements have one stride;
!> otherwise the call is an error. Sizes are checked before anything is read. Factors, bounds and values are scalars
!> of these types. Only the executor reads elements, so arrays may be on a device.
!>
!> Every procedure takes `where`, an executor (default: tally_automatic()), and `stat` and `errmsg`: stat, an integer
!> of 4 or 8 bytes, is TALLY_SUCCESS or the kind of failure, errmsg its message. Without stat a failure is an error
!> stop with the message. Failed functions return 0. Sums take `grade`, TALLY_GRADE_DEFAULT or TALLY_GRADE_EXACT; dot
!> products `conjugate`.
module tally
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  private

  ! --- Constants --------------------------------------------------------------------------------------------------

  integer(c_int), parameter, public :: TALLY_SUCCESS = 0
  integer(c_int), parameter, public :: TALLY_SIZE_MISMATCH = 1
  integer(c_int), parameter, public :: TALLY_NULL_POINTER = 2
  integer(c_int), parameter, public :: TALLY_ZERO_INCREMENT = 3
  integer(c_int), parameter, public :: TALLY_MISALIGNED = 4
  integer(c_int), parameter, public :: TALLY_UNSUPPORTED_TYPE = 5
  integer(c_int), parameter, public :: TALLY_WRONG_MEMORY = 6
  integer(c_int), parameter, public :: TALLY_MISSING_BACKEND = 7
  integer(c_int), parameter, public :: TALLY_NO_DEVICE = 8
  integer(c_int), parameter, public :: TALLY_INVALID_ARGUMENT = 9
  integer(c_int), parameter, public :: TALLY_OUT_OF_MEMORY = 10
  integer(c_int), parameter, public :: TALLY_DEVICE_FAILURE = 11
  integer(c_int), parameter, public :: TALLY_NO_ELEMENTS = 12
  integer(c_int), parameter, public :: TALLY_OVERLAP = 13
  integer(c_int), parameter, public :: TALLY_KEY_OUT_OF_RANGE = 14
  integer(c_int), parameter, public :: TALLY_UNREADABLE_FILE = 15
  integer(c_int), parameter, public :: TALLY_UNKNOWN_FAILURE = 255
  integer(c_int), parameter, public :: TALLY_BOOL = 0
  integer(c_int), parameter, public :: TALLY_INT8 = 1
  integer(c_int), parameter, public :: TALLY_UINT8 = 2
  integer(c_int), parameter, public :: TALLY_INT32 = 3
  integer(c_int), parameter, public :: TALLY_INT64 = 4
  integer(c_int), parameter, public :: TALLY_FLOAT16 = 5
  integer(c_int), parameter, public :: TALLY_BFLOAT16 = 6
  integer(c_int), parameter, public :: TALLY_FLOAT32 = 7
  integer(c_int), parameter, public :: TALLY_FLOAT64 = 8
  integer(c_int), parameter, public :: TALLY_COMPLEX64 = 9
  integer(c_int), parameter, public :: TALLY_COMPLEX128 = 10
  integer(c_int), parameter, public :: TALLY_GRADE_DEFAULT = 0
  integer(c_int), parameter, public :: TALLY_GRADE_EXACT = 1
  integer(c_int), parameter, public :: TALLY_WAIT_DEFAULT = 0
  integer(c_int), parameter, public :: TALLY_WAIT_YES = 1
  integer(c_int), parameter, public :: TALLY_WAIT_NO = 2
  integer(c_int), parameter, public :: TALLY_RESULT_ROUNDED = 0
  integer(c_int), parameter, public :: TALLY_RESULT_WORDS = 1
  integer(c_int), parameter, public :: TALLY_CONJUGATE_NONE = 0
  integer(c_int), parameter, public :: TALLY_CONJUGATE_X = 1
  integer(c_int), parameter, public :: TALLY_CONJUGATE_Y = 2
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_BEST = -1
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_BASELINE = 0
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_SSE4 = 1
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_AVX2 = 2
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_AVX512 = 3
  integer(c_int), parameter, public :: TALLY_INSTRUCTIONS_NEON = 4
  integer(c_int), parameter, public :: TALLY_ORDER_VERSION = 1
  integer(c_int), parameter, public :: TALLY_ORDER_LANES = 64
  integer(c_int), parameter, public :: TALLY_ORDER_CHUNK = 1024
  integer(c_int), parameter, public :: TALLY_NO_TRANSPOSE = 0
  integer(c_int), parameter, public :: TALLY_TRANSPOSE = 1
  integer(c_int), parameter, public :: TALLY_CONJUGATE_TRANSPOSE = 2

  ! --- Types ------------------------------------------------------------------------------------------------------

  !> Where and how an operation runs, from the functions below. Owns nothing.
  type, bind(C), public :: tally_executor
    private
    integer(c_int64_t) :: contents(8) = 0
  end type

  type, public :: tally_backend
    character(16) :: name = ''
    logical :: usable = .false.
  end type

  !> Host and device memory through which operations on host arrays run on the device, from tally_workspace_create to
  !> tally_workspace_destroy. Copies are the same workspace.
  type, bind(C), public :: tally_workspace
    private
    type(c_ptr) :: workspace = c_null_ptr
  end type

  !> For tally_multi_dot_list.
  type, bind(C), public :: tally_vector
    private
    integer(c_size_t) :: n = 0
    type(c_ptr) :: data = c_null_ptr
    integer(c_ptrdiff_t) :: inc = 1
    integer(c_int) :: type = TALLY_FLOAT64
  end type

  !> A sparse matrix that points at its arrays. Indices count from 0.
  type, bind(C), public :: tally_csr
    private
    integer(c_int64_t) :: contents(16) = 0
  end type

  !> Precomputed analysis of a matrix, from tally_spmv_plan_create to tally_spmv_plan_destroy. Copies are the same
  !> plan.
  type, bind(C), public :: tally_spmv_plan
    private
    type(c_ptr) :: plan = c_null_ptr
  end type

  ! --- What is public ---------------------------------------------------------------------------------------------

  public :: tally_version, tally_library_order_version, tally_last_error, tally_status_name, tally_type_name, &
            tally_type_size
  public :: tally_serial, tally_simd, tally_openmp, tally_cuda, tally_kokkos, tally_automatic, tally_executor_named, &
            tally_executor_name, tally_executors
  public :: tally_device_alloc, tally_device_free, tally_device_copy, tally_pinned_alloc, tally_pinned_free, tally_pin, &
            tally_unpin
  public :: tally_workspace_create, tally_workspace_destroy, tally_workspace_executor
  public :: tally_dot, tally_sum, tally_asum, tally_nrm2, tally_multi_dot, tally_batched_dot, tally_multi_dot_list
  public :: tally_dot_into, tally_sum_into, tally_asum_into, tally_nrm2_into, tally_multi_dot_into, &
            tally_batched_dot_into
  public :: tally_exact_words, tally_exact_sum_type, tally_merge_words, tally_round_words, tally_round_root_words
  public :: tally_min, tally_max, tally_minmax, tally_iamax
  public :: tally_copy, tally_fill, tally_swap, tally_gather, tally_scatter, tally_scal, tally_axpy, tally_axpby, &
            tally_waxpby, tally_axpbypcz, tally_add, tally_sub, tally_mul, tally_axypbz, tally_relu, tally_sigmoid, &
            tally_exp, tally_axpy_dot, tally_waxpby_nrm2
  public :: tally_bincount, tally_histogram_even, tally_histogram_range
  public :: tally_validate, tally_spmv_plan_create, tally_spmv_plan_destroy, tally_spmv_plan_describe, tally_spmv, &
            tally_spmv_apart
  public :: tally_finish, tally_fortran_complete

  ! --- Functions whose result has the kind that their arguments ask for --------------------------------------------

  !> r = tally_dot(x, y): the sum of x_i y_i. real64 if x or y is of double precision, real32 for other reals, alone
  !> or with integers, int64 for integers; complex if x or y is.
  interface tally_dot
    procedure :: dot_bool_bool
    procedure :: dot_bool_int8
    procedure :: dot_bool_int32
    procedure :: dot_bool_int64
    procedure :: dot_bool_float32
    procedure :: dot_bool_float64
    procedure :: dot_bool_complex64
    procedure :: dot_bool_complex128
    procedure :: dot_int8_bool
    procedure :: dot_int8_int8
    procedure :: dot_int8_int32
    procedure :: dot_int8_int64
    procedure :: dot_int8_float32
    procedure :: dot_int8_float64
    procedure :: dot_int8_complex64
    procedure :: dot_int8_complex128
    procedure :: dot_int32_bool
    procedure :: dot_int32_int8
    procedure :: dot_int32_int32
    procedure :: dot_int32_int64
    procedure :: dot_int32_float32
    procedure :: dot_int32_float64
    procedure :: dot_int32_complex64
    procedure :: dot_int32_complex128
    procedure :: dot_int64_bool
    procedure :: dot_int64_int8
    procedure :: dot_int64_int32
    procedure :: dot_int64_int64
    procedure :: dot_int64_float32
    procedure :: dot_int64_float64
    procedure :: dot_int64_complex64
    procedure :: dot_int64_complex128
    procedure :: dot_float32_bool
    procedure :: dot_float32_int8
    procedure :: dot_float32_int32
    procedure :: dot_float32_int64
    procedure :: dot_float32_float32
    procedure :: dot_float32_float64
    procedure :: dot_float32_complex64
    procedure :: dot_float32_complex128
    procedure :: dot_float64_bool
    procedure :: dot_float64_int8
    procedure :: dot_float64_int32
    procedure :: dot_float64_int64
    procedure :: dot_float64_float32
    procedure :: dot_float64_float64
    procedure :: dot_float64_complex64
    procedure :: dot_float64_complex128
    procedure :: dot_complex64_bool
    procedure :: dot_complex64_int8
    procedure :: dot_complex64_int32
    procedure :: dot_complex64_int64
    procedure :: dot_complex64_float32
    procedure :: dot_complex64_float64
    procedure :: dot_complex64_complex64
    procedure :: dot_complex64_complex128
    procedure :: dot_complex128_bool
    procedure :: dot_complex128_int8
    procedure :: dot_complex128_int32
    procedure :: dot_complex128_int64
    procedure :: dot_complex128_float32
    procedure :: dot_complex128_float64
    procedure :: dot_complex128_complex64
    procedure :: dot_complex128_complex128
  end interface

  !> r = tally_multi_dot(x, y): r(j) is the dot product of x(:, j) and y, in one pass over memory.
  interface tally_multi_dot
    procedure :: multi_dot_bool_bool
    procedure :: multi_dot_bool_int8
    procedure :: multi_dot_bool_int32
    procedure :: multi_dot_bool_int64
    procedure :: multi_dot_bool_float32
    procedure :: multi_dot_bool_float64
    procedure :: multi_dot_bool_complex64
    procedure :: multi_dot_bool_complex128
    procedure :: multi_dot_int8_bool
    procedure :: multi_dot_int8_int8
    procedure :: multi_dot_int8_int32
    procedure :: multi_dot_int8_int64
    procedure :: multi_dot_int8_float32
    procedure :: multi_dot_int8_float64
    procedure :: multi_dot_int8_complex64
    procedure :: multi_dot_int8_complex128
    procedure :: multi_dot_int32_bool
    procedure :: multi_dot_int32_int8
    procedure :: multi_dot_int32_int32
    procedure :: multi_dot_int32_int64
    procedure :: multi_dot_int32_float32
    procedure :: multi_dot_int32_float64
    procedure :: multi_dot_int32_complex64
    procedure :: multi_dot_int32_complex128
    procedure :: multi_dot_int64_bool
    procedure :: multi_dot_int64_int8
    procedure :: multi_dot_int64_int32
    procedure :: multi_dot_int64_int64
    procedure :: multi_dot_int64_float32
    procedure :: multi_dot_int64_float64
    procedure :: multi_dot_int64_complex64
    procedure :: multi_dot_int64_complex128
    procedure :: multi_dot_float32_bool
    procedure :: multi_dot_float32_int8
    procedure :: multi_dot_float32_int32
    procedure :: multi_dot_float32_int64
    procedure :: multi_dot_float32_float32
    procedure :: multi_dot_float32_float64
    procedure :: multi_dot_float32_complex64
    procedure :: multi_dot_float32_complex128
    procedure :: multi_dot_float64_bool
    procedure :: multi_dot_float64_int8
    procedure :: multi_dot_float64_int32
    procedure :: multi_dot_float64_int64
    procedure :: multi_dot_float64_float32
    procedure :: multi_dot_float64_float64
    procedure :: multi_dot_float64_complex64
    procedure :: multi_dot_float64_complex128
    procedure :: multi_dot_complex64_bool
    procedure :: multi_dot_complex64_int8
    procedure :: multi_dot_complex64_int32
    procedure :: multi_dot_complex64_int64
    procedure :: multi_dot_complex64_float32
    procedure :: multi_dot_complex64_float64
    procedure :: multi_dot_complex64_complex64
    procedure :: multi_dot_complex64_complex128
    procedure :: multi_dot_complex128_bool
    procedure :: multi_dot_complex128_int8
    procedure :: multi_dot_complex128_int32
    procedure :: multi_dot_complex128_int64
    procedure :: multi_dot_complex128_float32
    procedure :: multi_dot_complex128_float64
    procedure :: multi_dot_complex128_complex64
    procedure :: multi_dot_complex128_complex128
  end interface

  !> r = tally_batched_dot(x, y): r(j) is the dot product of x(:, j) and y(:, j).
  interface tally_batched_dot
    procedure :: batched_dot_bool_bool
    procedure :: batched_dot_bool_int8
    procedure :: batched_dot_bool_int32
    procedure :: batched_dot_bool_int64
    procedure :: batched_dot_bool_float32
    procedure :: batched_dot_bool_float64
    procedure :: batched_dot_bool_complex64
    procedure :: batched_dot_bool_complex128
    procedure :: batched_dot_int8_bool
    procedure :: batched_dot_int8_int8
    procedure :: batched_dot_int8_int32
    procedure :: batched_dot_int8_int64
    procedure :: batched_dot_int8_float32
    procedure :: batched_dot_int8_float64
    procedure :: batched_dot_int8_complex64
    procedure :: batched_dot_int8_complex128
    procedure :: batched_dot_int32_bool
    procedure :: batched_dot_int32_int8
    procedure :: batched_dot_int32_int32
    procedure :: batched_dot_int32_int64
    procedure :: batched_dot_int32_float32
    procedure :: batched_dot_int32_float64
    procedure :: batched_dot_int32_complex64
    procedure :: batched_dot_int32_complex128
    procedure :: batched_dot_int64_bool
    procedure :: batched_dot_int64_int8
    procedure :: batched_dot_int64_int32
    procedure :: batched_dot_int64_int64
    procedure :: batched_dot_int64_float32
    procedure :: batched_dot_int64_float64
    procedure :: batched_dot_int64_complex64
    procedure :: batched_dot_int64_complex128
    procedure :: batched_dot_float32_bool
    procedure :: batched_dot_float32_int8
    procedure :: batched_dot_float32_int32
    procedure :: batched_dot_float32_int64
    procedure :: batched_dot_float32_float32
    procedure :: batched_dot_float32_float64
    procedure :: batched_dot_float32_complex64
    procedure :: batched_dot_float32_complex128
    procedure :: batched_dot_float64_bool
    procedure :: batched_dot_float64_int8
    procedure :: batched_dot_float64_int32
    procedure :: batched_dot_float64_int64
    procedure :: batched_dot_float64_float32
    procedure :: batched_dot_float64_float64
    procedure :: batched_dot_float64_complex64
    procedure :: batched_dot_float64_complex128
    procedure :: batched_dot_complex64_bool
    procedure :: batched_dot_complex64_int8
    procedure :: batched_dot_complex64_int32
    procedure :: batched_dot_complex64_int64
    procedure :: batched_dot_complex64_float32
    procedure :: batched_dot_complex64_float64
    procedure :: batched_dot_complex64_complex64
    procedure :: batched_dot_complex64_complex128
    procedure :: batched_dot_complex128_bool
    procedure :: batched_dot_complex128_int8
    procedure :: batched_dot_complex128_int32
    procedure :: batched_dot_complex128_int64
    procedure :: batched_dot_complex128_float32
    procedure :: batched_dot_complex128_float64
    procedure :: batched_dot_complex128_complex64
    procedure :: batched_dot_complex128_complex128
  end interface

  !> r = tally_sum(x): int64 for integers.
  interface tally_sum
    procedure :: sum_bool
    procedure :: sum_int8
    procedure :: sum_int32
    procedure :: sum_int64
    procedure :: sum_float32
    procedure :: sum_float64
    procedure :: sum_complex64
    procedure :: sum_complex128
  end interface

  !> r = tally_asum(x): the sum of |x_i|, for complex elements |re x_i| + |im x_i|.
  interface tally_asum
    procedure :: asum_bool
    procedure :: asum_int8
    procedure :: asum_int32
    procedure :: asum_int64
    procedure :: asum_float32
    procedure :: asum_float64
    procedure :: asum_complex64
    procedure :: asum_complex128
  end interface

  !> r = tally_nrm2(x): the root of the sum of |x_i|^2, without overflow on the way; real64 for integers.
  interface tally_nrm2
    procedure :: nrm2_bool
    procedure :: nrm2_int8
    procedure :: nrm2_int32
    procedure :: nrm2_int64
    procedure :: nrm2_float32
    procedure :: nrm2_float64
    procedure :: nrm2_complex64
    procedure :: nrm2_complex128
  end interface

  !> r = tally_min(x, index): the smallest element, or the first NaN, and its lowest index, from 1 in array order.
  interface tally_min
    procedure :: min_bool
    procedure :: min_int8
    procedure :: min_int32
    procedure :: min_int64
    procedure :: min_float32
    procedure :: min_float64
  end interface

  !> r = tally_max(x, index): the largest element; otherwise as tally_min.
  interface tally_max
    procedure :: max_bool
    procedure :: max_int8
    procedure :: max_int32
    procedure :: max_int64
    procedure :: max_float32
    procedure :: max_float64
  end interface

  !> v = tally_vector(x): a pointer to an array with the attribute target or pointer, which must outlive v;
  !> expressions don't compile. For a component of an array of structures, such as z%im, pass a pointer, p => z%im:
  !> gfortran 12 passes its address wrongly.
  interface tally_vector
    procedure :: vector_bool
    procedure :: vector_int8
    procedure :: vector_int32
    procedure :: vector_int64
    procedure :: vector_float32
    procedure :: vector_float64
    procedure :: vector_complex64
    procedure :: vector_complex128
  end interface

  !> A = tally_csr(columns, row_offsets, column_indices, values): a matrix of size(row_offsets) - 1 rows. Points at
  !> these arrays, which are as those of tally_vector and must outlive A and its plans. Offsets and indices count from
  !> 0, as in tally.h: subtract 1 from Fortran's own in arrays that persist, not in the call. With row_ends, row i has
  !> the terms row_offsets(i) ... row_ends(i) - 1. `operation` is applied to A in products: TALLY_NO_TRANSPOSE,
  !> TALLY_TRANSPOSE or TALLY_CONJUGATE_TRANSPOSE.
  interface tally_csr
    procedure :: csr_int32_int32_float32
    procedure :: csr_int32_int32_float64
    procedure :: csr_int32_int32_complex64
    procedure :: csr_int32_int32_complex128
    procedure :: csr_int32_int64_float32
    procedure :: csr_int32_int64_float64
    procedure :: csr_int32_int64_complex64
    procedure :: csr_int32_int64_complex128
    procedure :: csr_int64_int32_float32
    procedure :: csr_int64_int32_float64
    procedure :: csr_int64_int32_complex64
    procedure :: csr_int64_int32_complex128
    procedure :: csr_int64_int64_float32
    procedure :: csr_int64_int64_float64
    procedure :: csr_int64_int64_complex64
    procedure :: csr_int64_int64_complex128
  end interface

  ! --- The functions of tally_fortran.c, and those of tally.h that take no array --------------------------------------

  interface
    integer(c_size_t) pure function c_strlen(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
    end function

    type(c_ptr) function c_last_error() bind(C, name='tally_fortran_last_error')
      import
    end function

    integer(c_int) function c_kept(status) bind(C, name='tally_fortran_kept')
      import
      integer(c_int), value :: status
    end function

    !> The loaded library's version, 10203 for 1.2.3.
    integer(c_int) function tally_version() bind(C)
      import
    end function

    !> The loaded library's version of the order contract: TALLY_ORDER_VERSION.
    integer(c_int) function tally_library_order_version() bind(C, name='tally_order_version')
      import
    end function

    subroutine c_set_stat(stat, status) bind(C, name='tally_fortran_set_stat')
      import
      type(*), intent(inout) :: stat(..)
      integer(c_int), value :: status
    end subroutine

    type(c_ptr) function c_status_name(status) bind(C, name='tally_fortran_status_name')
      import
      type(*), intent(in) :: status(..)
    end function

    type(c_ptr) function c_type_name(type) bind(C, name='tally_type_name')
      import
      integer(c_int), value :: type
    end function

    !> Bytes per element; 0 for an integer that is no type.
    integer(c_size_t) pure function tally_type_size(type) bind(C)
      import
      integer(c_int), value :: type
    end function

    !> Words, integer(int64), of one exact sum.
    integer(c_size_t) pure function tally_exact_words(sum_type) bind(C)
      import
      integer(c_int), value :: sum_type
    end function

    !> The smallest sum that holds the terms of operands of these types.
    integer(c_int) pure function tally_exact_sum_type(x_type, y_type, result_type) bind(C)
      import
      integer(c_int), value :: x_type, y_type, result_type
    end function

    integer(c_int) function c_serial(where) bind(C, name='tally_serial')
      import
      type(tally_executor), intent(inout) :: where
    end function

    integer(c_int) function c_simd(where, instructions) bind(C, name='tally_fortran_simd')
      import
      type(tally_executor), intent(inout) :: where
      type(*), intent(in), optional :: instructions(..)
    end function

    integer(c_int) function c_openmp(where, threads) bind(C, name='tally_fortran_openmp')
      import
      type(tally_executor), intent(inout) :: where
      type(*), intent(in), optional :: threads(..)
    end function

    integer(c_int) function c_cuda(where, device, stream) bind(C, name='tally_fortran_cuda')
      import
      type(tally_executor), intent(inout) :: where
      type(*), intent(in), optional :: device(..)
      type(c_ptr), value :: stream
    end function

    integer(c_int) function c_kokkos(where) bind(C, name='tally_kokkos')
      import
      type(tally_executor), intent(inout) :: where
    end function

    integer(c_int) function c_automatic(where) bind(C, name='tally_automatic')
      import
      type(tally_executor), intent(inout) :: where
    end function

    integer(c_int) function c_executor_named(where, name) bind(C, name='tally_executor_named')
      import
      type(tally_executor), intent(inout) :: where
      character(kind=c_char), intent(in) :: name(*)
    end function

    integer(c_int) function c_executor_name(where, name) bind(C, name='tally_executor_name')
      import
      type(tally_executor), intent(in), optional :: where
      type(c_ptr), intent(out) :: name
    end function

    integer(c_int) function c_executors(capacity, names, usable, count) bind(C, name='tally_executors')
      import
      integer(c_size_t), value :: capacity
      type(c_ptr), intent(inout) :: names(*)
      integer(c_int), intent(inout) :: usable(*)
      integer(c_size_t), intent(out) :: count
    end function

    integer(c_int) function c_device_alloc(where, bytes, memory) bind(C, name='tally_device_alloc')
      import
      type(tally_executor), intent(in) :: where
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: memory
    end function

    integer(c_int) function c_device_free(where, memory) bind(C, name='tally_device_free')
      import
      type(tally_executor), intent(in) :: where
      type(c_ptr), value :: memory
    end function

    integer(c_int) function c_device_copy(to, from, where) bind(C, name='tally_fortran_device_copy')
      import
      type(*), intent(inout) :: to(..)
      type(*), intent(in) :: from(..)
      type(tally_executor), intent(in) :: where
    end function

    integer(c_int) function c_pinned_alloc(where, bytes, memory) bind(C, name='tally_pinned_alloc')
      import
      type(tally_executor), intent(in) :: where
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: memory
    end function

    integer(c_int) function c_pinned_free(where, memory) bind(C, name='tally_pinned_free')
      import
      type(tally_executor), intent(in) :: where
      type(c_ptr), value :: memory
    end function

    integer(c_int) function c_pin(x, where) bind(C, name='tally_fortran_pin')
      import
      type(*), intent(in), target :: x(..)
      type(tally_executor), intent(in) :: where
    end function

    integer(c_int) function c_unpin(x, where) bind(C, name='tally_fortran_unpin')
      import
      type(*), intent(in), target :: x(..)
      type(tally_executor), intent(in) :: where
    end function

    integer(c_int) function c_workspace_create(where, stage_bytes, threads, workspace) &
        bind(C, name='tally_fortran_workspace_create')
      import
      type(tally_executor), intent(in), optional :: where
      type(*), intent(in), optional :: stage_bytes(..), threads(..)
      type(c_ptr), intent(inout) :: workspace
    end function

    subroutine c_workspace_destroy(workspace) bind(C, name='tally_workspace_destroy')
      import
      type(c_ptr), value :: workspace
    end subroutine

    integer(c_int) function c_workspace_executor(workspace, where) bind(C, name='tally_workspace_executor')
      import
      type(c_ptr), value :: workspace
      type(tally_executor), intent(inout) :: where
    end function

    integer(c_int) function c_dot(x, y, result, sum_type, where, grade, conjugate, wait) bind(C, name='tally_fortran_dot')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    end function

    integer(c_int) function c_sum(x, result, sum_type, where, grade, wait) bind(C, name='tally_fortran_sum')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, wait
    end function

    integer(c_int) function c_asum(x, result, sum_type, where, grade, wait) bind(C, name='tally_fortran_asum')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, wait
    end function

    integer(c_int) function c_nrm2(x, result, sum_type, where, grade, wait) bind(C, name='tally_fortran_nrm2')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, wait
    end function

    integer(c_int) function c_multi_dot(x, y, results, sum_type, where, grade, conjugate, wait) &
        bind(C, name='tally_fortran_multi_dot')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: results(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    end function

    integer(c_int) function c_batched_dot(x, y, results, sum_type, where, grade, conjugate, wait) &
        bind(C, name='tally_fortran_batched_dot')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: results(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    end function

    integer(c_int) function c_vector(x, made) bind(C, name='tally_fortran_vector_made')
      import
      type(*), intent(in), target :: x(..)
      type(tally_vector), intent(out) :: made
    end function

    integer(c_int) function c_multi_dot_list(x_size, x, y_size, y, results, sum_type, where, grade, conjugate, wait) &
        bind(C, name='tally_fortran_multi_dot_list')
      import
      integer(c_size_t), value :: x_size, y_size
      type(tally_vector), intent(in) :: x(*), y(*)
      type(*), intent(inout) :: results(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    end function

    integer(c_int) function c_merge_words(to, sum_type, from) bind(C, name='tally_fortran_merge_words')
      import
      type(*), intent(inout) :: to(..)
      integer(c_int), value :: sum_type
      type(*), intent(in), optional :: from(..)
    end function

    integer(c_int) function c_round_words(words, results, sum_type, where, wait) bind(C, name='tally_fortran_round_words')
      import
      type(*), intent(in) :: words(..)
      type(*), intent(inout) :: results(..)
      integer(c_int), value :: sum_type
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: wait
    end function

    integer(c_int) function c_round_root_words(words, results, sum_type, where, wait) &
        bind(C, name='tally_fortran_round_root_words')
      import
      type(*), intent(in) :: words(..)
      type(*), intent(inout) :: results(..)
      integer(c_int), value :: sum_type
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: wait
    end function

    integer(c_int) function c_min(x, value, index, where) bind(C, name='tally_fortran_min')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: value(..)
      integer(c_int64_t), intent(inout), optional :: index
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_max(x, value, index, where) bind(C, name='tally_fortran_max')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: value(..)
      integer(c_int64_t), intent(inout), optional :: index
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_minmax(x, smallest, largest, smallest_index, largest_index, where) &
        bind(C, name='tally_fortran_minmax')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: smallest(..), largest(..)
      integer(c_int64_t), intent(inout), optional :: smallest_index, largest_index
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_iamax(x, index, where) bind(C, name='tally_fortran_iamax')
      import
      type(*), intent(in) :: x(..)
      integer(c_int64_t), intent(inout) :: index
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_copy(x, y, where) bind(C, name='tally_fortran_copy')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_relu(x, y, where) bind(C, name='tally_fortran_relu')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_sigmoid(x, y, where) bind(C, name='tally_fortran_sigmoid')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_exp(x, y, where) bind(C, name='tally_fortran_exp')
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_fill(value, z, where) bind(C, name='tally_fortran_fill')
      import
      type(*), intent(in) :: value(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_swap(x, y, where) bind(C, name='tally_fortran_swap')
      import
      type(*), intent(inout) :: x(..), y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_gather(x, indices, z, where) bind(C, name='tally_fortran_gather')
      import
      type(*), intent(in) :: x(..), indices(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_scatter(x, indices, z, where) bind(C, name='tally_fortran_scatter')
      import
      type(*), intent(in) :: x(..), indices(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_scal(alpha, x, where) bind(C, name='tally_fortran_scal')
      import
      type(*), intent(in) :: alpha(..)
      type(*), intent(inout) :: x(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_axpy(alpha, x, y, where) bind(C, name='tally_fortran_axpy')
      import
      type(*), intent(in) :: alpha(..), x(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_axpby(alpha, x, beta, y, where) bind(C, name='tally_fortran_axpby')
      import
      type(*), intent(in) :: alpha(..), x(..), beta(..)
      type(*), intent(inout) :: y(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_waxpby(alpha, x, beta, y, w, where) bind(C, name='tally_fortran_waxpby')
      import
      type(*), intent(in) :: alpha(..), x(..), beta(..), y(..)
      type(*), intent(inout) :: w(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_axpbypcz(alpha, x, beta, y, gamma, z, where) bind(C, name='tally_fortran_axpbypcz')
      import
      type(*), intent(in) :: alpha(..), x(..), beta(..), y(..), gamma(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_add(x, y, z, where) bind(C, name='tally_fortran_add')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_sub(x, y, z, where) bind(C, name='tally_fortran_sub')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_mul(x, y, z, where) bind(C, name='tally_fortran_mul')
      import
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_axypbz(alpha, x, y, beta, z, where) bind(C, name='tally_fortran_axypbz')
      import
      type(*), intent(in) :: alpha(..), x(..), y(..), beta(..)
      type(*), intent(inout) :: z(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_axpy_dot(alpha, x, y, result, v, where, grade, conjugate, wait) &
        bind(C, name='tally_fortran_axpy_dot')
      import
      type(*), intent(in) :: alpha(..), x(..)
      type(*), intent(inout) :: y(..), result(..)
      type(*), intent(in), optional :: v(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: grade, conjugate, wait
    end function

    integer(c_int) function c_waxpby_nrm2(alpha, x, beta, y, w, result, where, grade, wait) &
        bind(C, name='tally_fortran_waxpby_nrm2')
      import
      type(*), intent(in) :: alpha(..), x(..), beta(..), y(..)
      type(*), intent(inout) :: w(..), result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: grade, wait
    end function

    integer(c_int) function c_csr(made, columns, row_offsets, column_indices, values, row_ends, operation, &
        fixed_values, fixed_columns) bind(C, name='tally_fortran_csr')
      import
      type(tally_csr), intent(inout) :: made
      type(*), intent(in) :: columns(..)
      type(*), intent(in), target :: row_offsets(..), column_indices(..), values(..)
      type(*), intent(in), target, optional :: row_ends(..)
      integer(c_int), intent(in), optional :: operation
      type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    end function

    integer(c_int) function c_validate(where, matrix) bind(C, name='tally_validate')
      import
      type(tally_executor), intent(in), optional :: where
      type(tally_csr), intent(in) :: matrix
    end function

    integer(c_int) function c_spmv_plan_create(where, matrix, plan) bind(C, name='tally_spmv_plan_create')
      import
      type(tally_executor), intent(in), optional :: where
      type(tally_csr), intent(in) :: matrix
      type(c_ptr), intent(inout) :: plan
    end function

    subroutine c_spmv_plan_destroy(plan) bind(C, name='tally_spmv_plan_destroy')
      import
      type(c_ptr), value :: plan
    end subroutine

    integer(c_int) function c_spmv_plan_describe(plan, text) bind(C, name='tally_spmv_plan_describe')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: text
    end function

    integer(c_int) function c_spmv(matrix, x, y, alpha, beta, plan, where, grade) bind(C, name='tally_fortran_spmv')
      import
      type(tally_csr), intent(in) :: matrix
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      type(*), intent(in), optional :: alpha(..), beta(..)
      type(tally_spmv_plan), intent(in), optional :: plan
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: grade
    end function

    integer(c_int) function c_spmv_apart(matrix, x, y, w, alpha, beta, plan, where, grade) &
        bind(C, name='tally_fortran_spmv_apart')
      import
      type(tally_csr), intent(in) :: matrix
      type(*), intent(in) :: x(..), y(..)
      type(*), intent(inout) :: w(..)
      type(*), intent(in), optional :: alpha(..), beta(..)
      type(tally_spmv_plan), intent(in), optional :: plan
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: grade
    end function

    integer(c_int) function c_bincount(keys, counts, outside, weights, passed_weights, channels, add, &
        where) bind(C, name='tally_fortran_bincount')
      import
      type(*), intent(in) :: keys(..)
      type(*), intent(inout) :: counts(..)
      type(*), intent(inout), optional :: outside(..)
      type(*), intent(in), optional :: weights(..), channels(..), add(..)
      type(tally_executor), intent(in), optional :: where
      type(c_ptr), value :: passed_weights
    end function

    integer(c_int) function c_histogram_even(x, lower, upper, counts, outside, weights, passed_weights, channels, add, &
        where) bind(C, name='tally_fortran_histogram_even')
      import
      type(*), intent(in) :: x(..), lower(..), upper(..)
      type(*), intent(inout) :: counts(..)
      type(*), intent(inout), optional :: outside(..)
      type(*), intent(in), optional :: weights(..), channels(..), add(..)
      type(tally_executor), intent(in), optional :: where
      type(c_ptr), value :: passed_weights
    end function

    integer(c_int) function c_histogram_range(x, edges, counts, outside, weights, passed_weights, channels, add, &
        where) bind(C, name='tally_fortran_histogram_range')
      import
      type(*), intent(in) :: x(..), edges(..)
      type(*), intent(inout) :: counts(..)
      type(*), intent(inout), optional :: outside(..)
      type(*), intent(in), optional :: weights(..), channels(..), add(..)
      type(tally_executor), intent(in), optional :: where
      type(c_ptr), value :: passed_weights
    end function

    ! Called as Fortran's, so that they see gfortran's own descriptors (tally_fortran.c).

    !> Completes array descriptors for the next call of C. `generate` writes the calls. (Also for tally_mpi.)
    subroutine tally_fortran_complete(a, b, c, d, e, f, g, h)
      import
      type(*), optional :: a(..), b(..), c(..), d(..), e(..), f(..), g(..), h(..)
    end subroutine

    !> The descriptor of an argument; null if it is absent. Inside a procedure gfortran mistakes an optional array
    !> without an address, such as [real ::], for an absent one, and without weights int64 counts would be
    !> overwritten.
    type(c_ptr) function tally_fortran_passed(x)
      import
      type(*) :: x(..)
    end function
  end interface

contains

  ! --- Errors, names and versions ---------------------------------------------------------------------------------

  !> Ends a call with its status: an error stop if it failed without stat. (For tally_mpi.)
  subroutine tally_finish(status, stat, errmsg)
    integer(c_int), intent(in) :: status
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    if (present(stat)) call c_set_stat(stat, status)
    if (status == TALLY_SUCCESS) return
    text = tally_last_error()
    if (present(errmsg)) errmsg = text
    if (.not. present(stat)) error stop text
  end subroutine

  !> Ends the program as a failed call without stat. (For tally_fortran.c.)
  subroutine error_stop() bind(C, name='tally_fortran_error_stop')
    character(:), allocatable :: text
    text = tally_last_error()
    error stop text
  end subroutine

  function tally_last_error() result(text)
    character(:), allocatable :: text
    text = text_at(c_last_error())
  end function

  !> 'size_mismatch'; 'unknown' for an integer that is no status.
  function tally_status_name(status) result(name)
    type(*), intent(in) :: status(..)
    character(:), allocatable :: name
    name = text_at(c_status_name(status))
  end function

  !> 'float64'; 'unknown' for an integer that is no type.
  function tally_type_name(type) result(name)
    integer(c_int), intent(in) :: type
    character(:), allocatable :: name
    name = text_at(c_type_name(type))
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    call c_f_pointer(address, characters, [c_strlen(address)])
    allocate(character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

  ! --- Executors --------------------------------------------------------------------------------------------------

  !> One thread, plain loops: the reference.
  function tally_serial(stat, errmsg) result(where)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_kept(c_serial(where)), stat, errmsg)
  end function

  !> One thread and vector instructions: the widest, or one of TALLY_INSTRUCTIONS_.
  function tally_simd(instructions, stat, errmsg) result(where)
    type(*), intent(in), optional :: instructions(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_simd(where, instructions), stat, errmsg)
  end function

  !> OpenMP's threads: its default number, or `threads`.
  function tally_openmp(threads, stat, errmsg) result(where)
    type(*), intent(in), optional :: threads(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_openmp(where, threads), stat, errmsg)
  end function

  !> A CUDA device, by default the current one, and a stream, a cudaStream_t.
  function tally_cuda(device, stream, stat, errmsg) result(where)
    type(*), intent(in), optional :: device(..)
    type(c_ptr), intent(in), optional :: stream
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    type(c_ptr) :: chosen
    chosen = c_null_ptr
    if (present(stream)) chosen = stream
    call tally_finish(c_cuda(where, device, chosen), stat, errmsg)
  end function

  !> Kokkos's default execution space.
  function tally_kokkos(stat, errmsg) result(where)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_kept(c_kokkos(where)), stat, errmsg)
  end function

  !> One of the others, chosen at each call by the operands' memory and size.
  function tally_automatic(stat, errmsg) result(where)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_kept(c_automatic(where)), stat, errmsg)
  end function

  !> 'serial', 'simd', 'openmp', 'cuda', 'kokkos' or 'automatic', with default options.
  function tally_executor_named(name, stat, errmsg) result(where)
    character(*), intent(in) :: name
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_kept(c_executor_named(where, trim(name) // c_null_char)), stat, errmsg)
  end function

  function tally_executor_name(where, stat, errmsg) result(name)
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    status = c_kept(c_executor_name(where, text))
    name = ''
    if (status == TALLY_SUCCESS) name = text_at(text)
    call tally_finish(status, stat, errmsg)
  end function

  !> 'serial' first.
  function tally_executors(stat, errmsg) result(list)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_backend), allocatable :: list(:)
    integer(c_size_t), parameter :: capacity = 64
    type(c_ptr) :: names(capacity)
    integer(c_int) :: usable(capacity), status
    integer(c_size_t) :: count, i
    count = 0
    status = c_kept(c_executors(capacity, names, usable, count))
    if (status /= TALLY_SUCCESS) count = 0
    allocate(list(min(count, capacity)))
    do i = 1, size(list)
      list(i)%name = text_at(names(i))
      list(i)%usable = usable(i) /= 0
    end do
    call tally_finish(status, stat, errmsg)
  end function

  ! --- Memory -----------------------------------------------------------------------------------------------------

  ! Memory that an executor's kernels reach, and pinned host memory, which a device reads at its bus's full speed.
  ! c_f_pointer makes an array of it. On host executors it is plain memory; the executor of tally_automatic has none,
  ! TALLY_INVALID_ARGUMENT.

  !> Uninitialised bytes, aligned to 64 or more: on CUDA of the device, out of the host's reach.
  function tally_device_alloc(bytes, where, stat, errmsg) result(memory)
    integer(c_size_t), intent(in) :: bytes
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: memory
    memory = c_null_ptr
    call tally_finish(c_kept(c_device_alloc(where, bytes, memory)), stat, errmsg)
  end function

  !> Frees memory, with an executor of the same backend and device, and waits for the device; sets c_null_ptr.
  subroutine tally_device_free(memory, where, stat, errmsg)
    type(c_ptr), intent(inout) :: memory
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_kept(c_device_free(where, memory))
    if (status == TALLY_SUCCESS) memory = c_null_ptr
    call tally_finish(status, stat, errmsg)
  end subroutine

  !> to = from, contiguous arrays of one type, each in memory of the host or the executor; waits.
  subroutine tally_device_copy(to, from, where, stat, errmsg)
    type(*), intent(inout) :: to(..)
    type(*), intent(in) :: from(..)
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(to, from)
    call tally_finish(c_device_copy(to, from, where), stat, errmsg)
  end subroutine

  !> Pinned host memory; otherwise as tally_device_alloc.
  function tally_pinned_alloc(bytes, where, stat, errmsg) result(memory)
    integer(c_size_t), intent(in) :: bytes
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: memory
    memory = c_null_ptr
    call tally_finish(c_kept(c_pinned_alloc(where, bytes, memory)), stat, errmsg)
  end function

  !> As tally_device_free.
  subroutine tally_pinned_free(memory, where, stat, errmsg)
    type(c_ptr), intent(inout) :: memory
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_kept(c_pinned_free(where, memory))
    if (status == TALLY_SUCCESS) memory = c_null_ptr
    call tally_finish(status, stat, errmsg)
  end subroutine

  !> Pins an array until tally_unpin: a contiguous, persistent variable with the attribute target or pointer, no
  !> component of an array of structures.
  subroutine tally_pin(x, where, stat, errmsg)
    type(*), intent(in), target :: x(..)
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x)
    call tally_finish(c_pin(x, where), stat, errmsg)
  end subroutine

  !> Unpins an array.
  subroutine tally_unpin(x, where, stat, errmsg)
    type(*), intent(in), target :: x(..)
    type(tally_executor), intent(in) :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x)
    call tally_finish(c_unpin(x, where), stat, errmsg)
  end subroutine

  !> Makes a workspace for a device and stream, or for a host executor, and ends the previous one of the variable; a
  !> failure keeps that. stage_bytes: bytes of all operands in flight to the device, 2**15 to 2**30; `threads` copy
  !> unpinned memory.
  subroutine tally_workspace_create(workspace, where, stage_bytes, threads, stat, errmsg)
    type(tally_workspace), intent(inout) :: workspace
    type(tally_executor), intent(in), optional :: where
    type(*), intent(in), optional :: stage_bytes(..), threads(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int) :: status
    made = c_null_ptr
    status = c_workspace_create(where, stage_bytes, threads, made)
    if (status == TALLY_SUCCESS) then
      call c_workspace_destroy(workspace%workspace)
      workspace%workspace = made
    end if
    call tally_finish(status, stat, errmsg)
  end subroutine

  !> Ends a workspace and its executor. One never made is fine.
  subroutine tally_workspace_destroy(workspace)
    type(tally_workspace), intent(inout) :: workspace
    call c_workspace_destroy(workspace%workspace)
    workspace%workspace = c_null_ptr
  end subroutine

  !> The executor for arrays and results in host memory: sums, dot products, extrema, element-wise functions and
  !> histograms. Valid until its workspace ends.
  function tally_workspace_executor(workspace, stat, errmsg) result(where)
    type(tally_workspace), intent(in) :: workspace
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_executor) :: where
    call tally_finish(c_kept(c_workspace_executor(workspace%workspace, where)), stat, errmsg)
  end function

  ! --- Sums -------------------------------------------------------------------------------------------------------

  function dot_bool_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_bool_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_bool_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_bool_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int8_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int8_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int8_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_int64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_int64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_int64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float32_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_float64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_float64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_float64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex64_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_bool(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    logical(c_bool), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_int8(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int8), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_int32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_int64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    integer(int64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_float32(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    real(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_float64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    real(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_complex64(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    complex(real32), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function dot_complex128_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y)
    r = 0
    call tally_finish(c_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function multi_dot_complex128_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_multi_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function batched_dot_complex128_complex128(x, y, where, grade, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(:, :)
    complex(real64), intent(in) :: y(:, :)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r(size(x, 2))
    r = 0
    call tally_finish(c_batched_dot(x, y, r, where=where, grade=grade, conjugate=conjugate), stat, errmsg)
  end function

  function sum_bool(x, where, grade, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_bool(x, where, grade, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_bool(x, where, grade, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_int8(x, where, grade, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_int8(x, where, grade, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_int8(x, where, grade, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_int32(x, where, grade, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_int32(x, where, grade, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_int32(x, where, grade, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_int64(x, where, grade, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_int64(x, where, grade, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_int64(x, where, grade, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_float32(x, where, grade, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_float32(x, where, grade, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_float32(x, where, grade, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_float64(x, where, grade, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_float64(x, where, grade, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_float64(x, where, grade, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_complex64(x, where, grade, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_complex64(x, where, grade, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_complex64(x, where, grade, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function sum_complex128(x, where, grade, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_sum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function asum_complex128(x, where, grade, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_asum(x, r, where=where, grade=grade), stat, errmsg)
  end function

  function nrm2_complex128(x, where, grade, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_nrm2(x, r, where=where, grade=grade), stat, errmsg)
  end function

  ! The second form writes the result to `result`: a number of another type of the operation, such as double precision
  ! for single, device memory with wait=TALLY_WAIT_NO, or with sum_type, TALLY_FLOAT64 or another type of exact sums,
  ! the words of such a sum, integer(int64), to which it adds.

  subroutine tally_dot_into(x, y, result, sum_type, where, grade, conjugate, wait, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: result(..)
    integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, result)
    call tally_finish(c_dot(x, y, result, sum_type, where, grade, conjugate, wait), stat, errmsg)
  end subroutine

  subroutine tally_sum_into(x, result, sum_type, where, grade, wait, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    integer(c_int), intent(in), optional :: sum_type, grade, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, result)
    call tally_finish(c_sum(x, result, sum_type, where, grade, wait), stat, errmsg)
  end subroutine

  subroutine tally_asum_into(x, result, sum_type, where, grade, wait, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    integer(c_int), intent(in), optional :: sum_type, grade, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, result)
    call tally_finish(c_asum(x, result, sum_type, where, grade, wait), stat, errmsg)
  end subroutine

  !> With sum_type it adds squares, and tally_round_root_words takes the root.
  subroutine tally_nrm2_into(x, result, sum_type, where, grade, wait, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: result(..)
    integer(c_int), intent(in), optional :: sum_type, grade, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, result)
    call tally_finish(c_nrm2(x, result, sum_type, where, grade, wait), stat, errmsg)
  end subroutine

  subroutine tally_multi_dot_into(x, y, results, sum_type, where, grade, conjugate, wait, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: results(..)
    integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, results)
    call tally_finish(c_multi_dot(x, y, results, sum_type, where, grade, conjugate, wait), stat, errmsg)
  end subroutine

  subroutine tally_batched_dot_into(x, y, results, sum_type, where, grade, conjugate, wait, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: results(..)
    integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, results)
    call tally_finish(c_batched_dot(x, y, results, sum_type, where, grade, conjugate, wait), stat, errmsg)
  end subroutine

  function vector_bool(x, stat, errmsg) result(made)
    logical(c_bool), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_int8(x, stat, errmsg) result(made)
    integer(int8), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_int32(x, stat, errmsg) result(made)
    integer(int32), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_int64(x, stat, errmsg) result(made)
    integer(int64), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_float32(x, stat, errmsg) result(made)
    real(real32), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_float64(x, stat, errmsg) result(made)
    real(real64), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_complex64(x, stat, errmsg) result(made)
    complex(real32), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  function vector_complex128(x, stat, errmsg) result(made)
    complex(real64), pointer, intent(in) :: x(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_vector) :: made
    call tally_finish(c_vector(x, made), stat, errmsg)
  end function

  !> results(j) is the dot product of x(j) and y(j): vectors of any sizes, those of x of one type, and those of y.
  subroutine tally_multi_dot_list(x, y, results, sum_type, where, grade, conjugate, wait, stat, errmsg)
    type(tally_vector), intent(in) :: x(:), y(:)
    type(*), intent(inout) :: results(..)
    integer(c_int), intent(in), optional :: sum_type, grade, conjugate, wait
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(results)
    call tally_finish(c_multi_dot_list(size(x, kind=c_size_t), x, size(y, kind=c_size_t), y, results, sum_type, where, &
                                       grade, conjugate, wait), stat, errmsg)
  end subroutine

  !> Adds the words of the sums at `from` to those at `to`, and normalises; without `from` only that.
  subroutine tally_merge_words(to, sum_type, from, stat, errmsg)
    type(*), intent(inout) :: to(..)
    integer(c_int), intent(in) :: sum_type
    type(*), intent(in), optional :: from(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(to, from)
    call tally_finish(c_merge_words(to, sum_type, from), stat, errmsg)
  end subroutine

  !> Correctly rounded.
  subroutine tally_round_words(words, results, sum_type, where, wait, stat, errmsg)
    type(*), intent(in) :: words(..)
    type(*), intent(inout) :: results(..)
    integer(c_int), intent(in) :: sum_type
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: wait
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(words, results)
    call tally_finish(c_round_words(words, results, sum_type, where, wait), stat, errmsg)
  end subroutine

  !> Each is the correctly rounded square root of a sum.
  subroutine tally_round_root_words(words, results, sum_type, where, wait, stat, errmsg)
    type(*), intent(in) :: words(..)
    type(*), intent(inout) :: results(..)
    integer(c_int), intent(in) :: sum_type
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: wait
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(words, results)
    call tally_finish(c_round_root_words(words, results, sum_type, where, wait), stat, errmsg)
  end subroutine

  ! --- Extrema ----------------------------------------------------------------------------------------------------

  function min_bool(x, index, where, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    logical(c_bool) :: r
    call tally_fortran_complete(x)
    r = .false.
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_bool(x, index, where, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    logical(c_bool) :: r
    call tally_fortran_complete(x)
    r = .false.
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  function min_int8(x, index, where, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int8) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_int8(x, index, where, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int8) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  function min_int32(x, index, where, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_int32(x, index, where, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  function min_int64(x, index, where, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_int64(x, index, where, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  function min_float32(x, index, where, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_float32(x, index, where, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  function min_float64(x, index, where, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_min(x, r, index, where), stat, errmsg)
  end function

  function max_float64(x, index, where, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int64), intent(inout), optional :: index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x)
    r = 0
    call tally_finish(c_max(x, r, index, where), stat, errmsg)
  end function

  !> The smallest and the largest element in one pass, of x's type, and their indices, from 1.
  subroutine tally_minmax(x, smallest, largest, smallest_index, largest_index, where, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: smallest(..), largest(..)
    integer(int64), intent(inout), optional :: smallest_index, largest_index
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, smallest, largest)
    call tally_finish(c_minmax(x, smallest, largest, smallest_index, largest_index, where), stat, errmsg)
  end subroutine

  !> The lowest index, from 1 in array order, of an element of largest magnitude, as in BLAS; 0 for none.
  function tally_iamax(x, where, stat, errmsg) result(index)
    type(*), intent(in) :: x(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: index
    call tally_fortran_complete(x)
    index = 0
    call tally_finish(c_iamax(x, index, where), stat, errmsg)
  end function

  ! --- Element-wise functions -------------------------------------------------------------------------------------

  !> y = x
  subroutine tally_copy(x, y, where, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y)
    call tally_finish(c_copy(x, y, where), stat, errmsg)
  end subroutine

  !> y = max(x, 0)
  subroutine tally_relu(x, y, where, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y)
    call tally_finish(c_relu(x, y, where), stat, errmsg)
  end subroutine

  !> y = 1 / (1 + exp(-x))
  subroutine tally_sigmoid(x, y, where, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y)
    call tally_finish(c_sigmoid(x, y, where), stat, errmsg)
  end subroutine

  !> y = exp(x)
  subroutine tally_exp(x, y, where, stat, errmsg)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y)
    call tally_finish(c_exp(x, y, where), stat, errmsg)
  end subroutine

  !> z = value
  subroutine tally_fill(value, z, where, stat, errmsg)
    type(*), intent(in) :: value(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(value, z)
    call tally_finish(c_fill(value, z, where), stat, errmsg)
  end subroutine

  subroutine tally_swap(x, y, where, stat, errmsg)
    type(*), intent(inout) :: x(..), y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y)
    call tally_finish(c_swap(x, y, where), stat, errmsg)
  end subroutine

  !> z(i) = the element of x with index indices(i), from 0 as in tally.h and in the columns of a tally_csr.
  subroutine tally_gather(x, indices, z, where, stat, errmsg)
    type(*), intent(in) :: x(..), indices(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, indices, z)
    call tally_finish(c_gather(x, indices, z, where), stat, errmsg)
  end subroutine

  !> The element of z with index indices(i), from 0, = x(i). Indices are distinct.
  subroutine tally_scatter(x, indices, z, where, stat, errmsg)
    type(*), intent(in) :: x(..), indices(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, indices, z)
    call tally_finish(c_scatter(x, indices, z, where), stat, errmsg)
  end subroutine

  !> x = alpha x
  subroutine tally_scal(alpha, x, where, stat, errmsg)
    type(*), intent(in) :: alpha(..)
    type(*), intent(inout) :: x(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x)
    call tally_finish(c_scal(alpha, x, where), stat, errmsg)
  end subroutine

  !> y = alpha x + y
  subroutine tally_axpy(alpha, x, y, where, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, y)
    call tally_finish(c_axpy(alpha, x, y, where), stat, errmsg)
  end subroutine

  !> y = alpha x + beta y; y is not read if beta is 0.
  subroutine tally_axpby(alpha, x, beta, y, where, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..), beta(..)
    type(*), intent(inout) :: y(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, beta, y)
    call tally_finish(c_axpby(alpha, x, beta, y, where), stat, errmsg)
  end subroutine

  !> w = alpha x + beta y
  subroutine tally_waxpby(alpha, x, beta, y, w, where, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..), beta(..), y(..)
    type(*), intent(inout) :: w(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, beta, y, w)
    call tally_finish(c_waxpby(alpha, x, beta, y, w, where), stat, errmsg)
  end subroutine

  !> z = (alpha x + beta y) + gamma z; z is not read if gamma is 0.
  subroutine tally_axpbypcz(alpha, x, beta, y, gamma, z, where, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..), beta(..), y(..), gamma(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, beta, y, gamma, z)
    call tally_finish(c_axpbypcz(alpha, x, beta, y, gamma, z, where), stat, errmsg)
  end subroutine

  !> z = x + y
  subroutine tally_add(x, y, z, where, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, z)
    call tally_finish(c_add(x, y, z, where), stat, errmsg)
  end subroutine

  !> z = x - y
  subroutine tally_sub(x, y, z, where, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, z)
    call tally_finish(c_sub(x, y, z, where), stat, errmsg)
  end subroutine

  !> z = x y
  subroutine tally_mul(x, y, z, where, stat, errmsg)
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, z)
    call tally_finish(c_mul(x, y, z, where), stat, errmsg)
  end subroutine

  !> z = (alpha x) y + beta z; z is not read if beta is 0.
  subroutine tally_axypbz(alpha, x, y, beta, z, where, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..), y(..), beta(..)
    type(*), intent(inout) :: z(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, y, beta, z)
    call tally_finish(c_axypbz(alpha, x, y, beta, z, where), stat, errmsg)
  end subroutine

  !> y = alpha x + y, then result = the dot product of y and v (default: y), in one pass; result has a type of
  !> tally_dot for them.
  subroutine tally_axpy_dot(alpha, x, y, result, v, where, grade, conjugate, wait, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..)
    type(*), intent(inout) :: y(..), result(..)
    type(*), intent(in), optional :: v(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, conjugate, wait
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, y, result, v)
    call tally_finish(c_axpy_dot(alpha, x, y, result, v, where, grade, conjugate, wait), stat, errmsg)
  end subroutine

  !> w = alpha x + beta y, then result = the 2-norm of w, in one pass; result has a type of tally_nrm2 for w.
  subroutine tally_waxpby_nrm2(alpha, x, beta, y, w, result, where, grade, wait, stat, errmsg)
    type(*), intent(in) :: alpha(..), x(..), beta(..), y(..)
    type(*), intent(inout) :: w(..), result(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade, wait
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(alpha, x, beta, y, w, result)
    call tally_finish(c_waxpby_nrm2(alpha, x, beta, y, w, result, where, grade, wait), stat, errmsg)
  end subroutine

  ! --- Histograms -------------------------------------------------------------------------------------------------

  ! The number of bins is the size of counts, which are contiguous, integer(int32) or integer(int64). With `channels`
  ! sample i belongs to channel mod(i - 1, channels), and counts are counts(bins, channels). `outside`,
  ! integer(int64), receives for each channel the samples below the first edge, above the last, and NaNs. With real
  ! `weights` counts are real, each bin's exact sum rounded once, or integer(int64), its words. add=.true., a logical
  ! of any kind, adds to counts and outside instead of overwriting.

  !> Counts the keys 0, 1, 2, ...: counts(1) for zeros.
  subroutine tally_bincount(keys, counts, outside, weights, channels, add, where, stat, errmsg)
    type(*), intent(in) :: keys(..)
    type(*), intent(inout) :: counts(..)
    type(*), intent(inout), optional :: outside(..)
    type(*), intent(in), optional :: weights(..), channels(..), add(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(keys, counts, outside, weights, channels, add)
    call tally_finish(c_bincount(keys, counts, outside, weights, tally_fortran_passed(weights), &
                      channels, add, where), stat, errmsg)
  end subroutine

  !> Equal bins from lower to upper.
  subroutine tally_histogram_even(x, lower, upper, counts, outside, weights, channels, add, where, stat, errmsg)
    type(*), intent(in) :: x(..), lower(..), upper(..)
    type(*), intent(inout) :: counts(..)
    type(*), intent(inout), optional :: outside(..)
    type(*), intent(in), optional :: weights(..), channels(..), add(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, lower, upper, counts, outside, weights, channels, add)
    call tally_finish(c_histogram_even(x, lower, upper, counts, outside, weights, tally_fortran_passed(weights), &
                      channels, add, where), stat, errmsg)
  end subroutine

  !> Counts between successive edges, one more than bins.
  subroutine tally_histogram_range(x, edges, counts, outside, weights, channels, add, where, stat, errmsg)
    type(*), intent(in) :: x(..), edges(..)
    type(*), intent(inout) :: counts(..)
    type(*), intent(inout), optional :: outside(..)
    type(*), intent(in), optional :: weights(..), channels(..), add(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, edges, counts, outside, weights, channels, add)
    call tally_finish(c_histogram_range(x, edges, counts, outside, weights, tally_fortran_passed(weights), &
                      channels, add, where), stat, errmsg)
  end subroutine

  ! --- Sparse matrices --------------------------------------------------------------------------------------------

  function csr_int32_int32_float32(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    real(real32), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int32_float64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    real(real64), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int32_complex64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    complex(real32), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int32_complex128(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    complex(real64), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int64_float32(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    real(real32), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int64_float64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    real(real64), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int64_complex64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    complex(real32), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int32_int64_complex128(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int32), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    complex(real64), pointer, intent(in) :: values(..)
    integer(int32), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int32_float32(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    real(real32), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int32_float64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    real(real64), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int32_complex64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    complex(real32), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int32_complex128(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int32), pointer, intent(in) :: column_indices(..)
    complex(real64), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int64_float32(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    real(real32), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int64_float64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    real(real64), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int64_complex64(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    complex(real32), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  function csr_int64_int64_complex128(columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                           fixed_columns, stat, errmsg) result(matrix)
    type(*), intent(in) :: columns(..)
    integer(int64), pointer, intent(in) :: row_offsets(..)
    integer(int64), pointer, intent(in) :: column_indices(..)
    complex(real64), pointer, intent(in) :: values(..)
    integer(int64), pointer, intent(in), optional :: row_ends(..)
    integer(c_int), intent(in), optional :: operation
    type(*), intent(in), optional :: fixed_values(..), fixed_columns(..)
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(tally_csr) :: matrix
    integer(c_int) :: status
    call tally_fortran_complete(columns, fixed_values, fixed_columns)
    if (present(row_ends)) then
      status = c_csr(matrix, columns, row_offsets, column_indices, values, row_ends, operation, fixed_values, &
                     fixed_columns)
    else
      status = c_csr(matrix, columns, row_offsets, column_indices, values, operation=operation, &
                     fixed_values=fixed_values, fixed_columns=fixed_columns)
    end if
    call tally_finish(status, stat, errmsg)
  end function

  !> Checks a whole matrix: TALLY_INVALID_ARGUMENT for the first invalid offset or column.
  subroutine tally_validate(matrix, where, stat, errmsg)
    type(tally_csr), intent(in) :: matrix
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_finish(c_kept(c_validate(where, matrix)), stat, errmsg)
  end subroutine

  !> Makes a plan for products with this matrix, which it validates, and ends the previous plan of the variable; a
  !> failure keeps that. While the plan is used, row offsets must not change, nor what the matrix's fixed_values and
  !> fixed_columns promise.
  subroutine tally_spmv_plan_create(plan, matrix, where, stat, errmsg)
    type(tally_spmv_plan), intent(inout) :: plan
    type(tally_csr), intent(in) :: matrix
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int) :: status
    made = c_null_ptr
    status = c_kept(c_spmv_plan_create(where, matrix, made))
    if (status == TALLY_SUCCESS) then
      call c_spmv_plan_destroy(plan%plan)
      plan%plan = made
    end if
    call tally_finish(status, stat, errmsg)
  end subroutine

  !> A plan never made is fine.
  subroutine tally_spmv_plan_destroy(plan)
    type(tally_spmv_plan), intent(inout) :: plan
    call c_spmv_plan_destroy(plan%plan)
    plan%plan = c_null_ptr
  end subroutine

  !> The method and its reasons.
  function tally_spmv_plan_describe(plan, stat, errmsg) result(text)
    type(tally_spmv_plan), intent(in) :: plan
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: address
    integer(c_int) :: status
    status = c_kept(c_spmv_plan_describe(plan%plan, address))
    text = ''
    if (status == TALLY_SUCCESS) text = text_at(address)
    call tally_finish(status, stat, errmsg)
  end function

  !> y = alpha A x + beta y, without factors y = A x. y is not read if beta is 0. The plan is one of this matrix; one
  !> not made, or destroyed, is TALLY_INVALID_ARGUMENT.
  subroutine tally_spmv(matrix, x, y, alpha, beta, plan, where, grade, stat, errmsg)
    type(tally_csr), intent(in) :: matrix
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    type(*), intent(in), optional :: alpha(..), beta(..)
    type(tally_spmv_plan), intent(in), optional :: plan
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, alpha, beta)
    call tally_finish(c_spmv(matrix, x, y, alpha, beta, plan, where, grade), stat, errmsg)
  end subroutine

  !> w = alpha A x + beta y, with w apart from y.
  subroutine tally_spmv_apart(matrix, x, y, w, alpha, beta, plan, where, grade, stat, errmsg)
    type(tally_csr), intent(in) :: matrix
    type(*), intent(in) :: x(..), y(..)
    type(*), intent(inout) :: w(..)
    type(*), intent(in), optional :: alpha(..), beta(..)
    type(tally_spmv_plan), intent(in), optional :: plan
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: grade
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    call tally_fortran_complete(x, y, w, alpha, beta)
    call tally_finish(c_spmv_apart(matrix, x, y, w, alpha, beta, plan, where, grade), stat, errmsg)
  end subroutine
end module
