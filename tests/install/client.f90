! A client of the C interface.
program client
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: tally_call_options
    integer(c_size_t) :: size = 24
    integer(c_int) :: grade = 0, wait = 0, conjugate = 0, reserved = 0
  end type
  type, bind(C) :: tally_executor
    integer(c_int64_t) :: contents(8)
  end type
  interface
    integer(c_int) function tally_simd(where, instructions) bind(C)
      import
      type(tally_executor), intent(out) :: where
      integer(c_int), value :: instructions
    end function
    integer(c_int) function tally_dot(where, n, x_type, x, incx, y_type, y, incy, result_type, result, options) bind(C)
      import
      type(tally_executor), intent(in), optional :: where
      integer(c_size_t), value :: n
      integer(c_int), value :: x_type, y_type, result_type
      integer(c_ptrdiff_t), value :: incx, incy
      real(c_double), intent(in) :: x(*), y(*)
      real(c_double), intent(out) :: result
      type(tally_call_options), intent(in), optional :: options
    end function
  end interface
  integer(c_int), parameter :: float64 = 8, grade_exact = 1, instructions_best = -1
  integer(c_ptrdiff_t), parameter :: one = 1
  type(tally_executor) :: simd
  real(c_double) :: result
  ! An absent argument is a null pointer: the defaults.
  if (tally_dot(n=3_c_size_t, x_type=float64, x=[1d0, 2d0, 3d0], incx=one, y_type=float64, y=[4d0, 5d0, 6d0], &
                incy=one, result_type=float64, result=result) /= 0) error stop 1
  print *, result
  if (result /= 32d0) error stop 2
  if (tally_simd(simd, instructions_best) /= 0) error stop 3
  if (tally_dot(simd, 3_c_size_t, float64, [1d17, -1d17, 1d0], one, float64, [1d0, 1d0, 1d0], one, float64, result, &
                tally_call_options(grade=grade_exact)) /= 0) error stop 4
  if (result /= 1d0) error stop 5
end program
