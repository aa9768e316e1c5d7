! A Fortran program that uses an installed Tally, through its C interface.
program client
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function tally_dot(where, n, x_type, x, incx, y_type, y, incy, result_type, result) bind(C)
      import
      type(c_ptr), value :: where
      integer(c_size_t), value :: n
      integer(c_int), value :: x_type, y_type, result_type
      integer(c_ptrdiff_t), value :: incx, incy
      real(c_double), intent(in) :: x(*), y(*)
      real(c_double), intent(out) :: result
    end function
  end interface
  integer(c_int), parameter :: float64 = 8
  real(c_double) :: result
  if (tally_dot(c_null_ptr, 3_c_size_t, float64, [1d0, 2d0, 3d0], 1_c_ptrdiff_t, &
                float64, [4d0, 5d0, 6d0], 1_c_ptrdiff_t, float64, result) /= 0) error stop 1
  print *, result
  if (result /= 32d0) error stop 2
end program
