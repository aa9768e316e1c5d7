! Written by bindings/fortran/generate from tally_mpi.f90.in: change that.
!> Sums over MPI ranks in the exact grade: the same bits on every rank, for any number of ranks and any distribution.
!> Each rank calls with its own part, perhaps empty, and its own executor.
!>
!> A communicator is a type(MPI_Comm) of mpi_f08, or an integer of mpi and mpif.h. Otherwise as in module tally. If
!> ranks fail, all have the status of the lowest.
module tally_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use tally, only: tally_executor, tally_finish, tally_fortran_complete
  implicit none
  private
  public :: tally_mpi_dot, tally_mpi_sum, tally_mpi_asum, tally_mpi_nrm2

  !> r = tally_mpi_dot(x, y, comm)
  interface tally_mpi_dot
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

  !> r = tally_mpi_sum(x, comm)
  interface tally_mpi_sum
    procedure :: sum_bool
    procedure :: sum_int8
    procedure :: sum_int32
    procedure :: sum_int64
    procedure :: sum_float32
    procedure :: sum_float64
    procedure :: sum_complex64
    procedure :: sum_complex128
  end interface

  !> r = tally_mpi_asum(x, comm)
  interface tally_mpi_asum
    procedure :: asum_bool
    procedure :: asum_int8
    procedure :: asum_int32
    procedure :: asum_int64
    procedure :: asum_float32
    procedure :: asum_float64
    procedure :: asum_complex64
    procedure :: asum_complex128
  end interface

  !> r = tally_mpi_nrm2(x, comm)
  interface tally_mpi_nrm2
    procedure :: nrm2_bool
    procedure :: nrm2_int8
    procedure :: nrm2_int32
    procedure :: nrm2_int64
    procedure :: nrm2_float32
    procedure :: nrm2_float64
    procedure :: nrm2_complex64
    procedure :: nrm2_complex128
  end interface

  interface
    integer(c_int) function c_dot(x, y, result, comm, where, conjugate) bind(C, name='tally_fortran_mpi_dot')
      import
      type(*), intent(in) :: x(..), y(..), comm(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
      integer(c_int), intent(in), optional :: conjugate
    end function

    integer(c_int) function c_sum(x, result, comm, where) bind(C, name='tally_fortran_mpi_sum')
      import
      type(*), intent(in) :: x(..), comm(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_asum(x, result, comm, where) bind(C, name='tally_fortran_mpi_asum')
      import
      type(*), intent(in) :: x(..), comm(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
    end function

    integer(c_int) function c_nrm2(x, result, comm, where) bind(C, name='tally_fortran_mpi_nrm2')
      import
      type(*), intent(in) :: x(..), comm(..)
      type(*), intent(inout) :: result(..)
      type(tally_executor), intent(in), optional :: where
    end function
  end interface

contains

  function dot_bool_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_bool_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int8_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int32_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_int64_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float32_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_float64_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex64_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_bool(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    logical(c_bool), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_int8(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int8), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_int32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_int64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    integer(int64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_float32(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    real(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_float64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    real(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_complex64(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    complex(real32), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function dot_complex128_complex128(x, y, comm, where, conjugate, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    complex(real64), intent(in) :: y(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    integer(c_int), intent(in), optional :: conjugate
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, y, comm)
    r = 0
    call tally_finish(c_dot(x, y, r, comm, where, conjugate), stat, errmsg)
  end function

  function sum_bool(x, comm, where, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_bool(x, comm, where, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_bool(x, comm, where, stat, errmsg) result(r)
    logical(c_bool), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_int8(x, comm, where, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_int8(x, comm, where, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_int8(x, comm, where, stat, errmsg) result(r)
    integer(int8), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_int32(x, comm, where, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_int32(x, comm, where, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_int32(x, comm, where, stat, errmsg) result(r)
    integer(int32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_int64(x, comm, where, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_int64(x, comm, where, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_int64(x, comm, where, stat, errmsg) result(r)
    integer(int64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_float32(x, comm, where, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_float32(x, comm, where, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_float32(x, comm, where, stat, errmsg) result(r)
    real(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_float64(x, comm, where, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_float64(x, comm, where, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_float64(x, comm, where, stat, errmsg) result(r)
    real(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_complex64(x, comm, where, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_complex64(x, comm, where, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_complex64(x, comm, where, stat, errmsg) result(r)
    complex(real32), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real32) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

  function sum_complex128(x, comm, where, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    complex(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_sum(x, r, comm, where), stat, errmsg)
  end function

  function asum_complex128(x, comm, where, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_asum(x, r, comm, where), stat, errmsg)
  end function

  function nrm2_complex128(x, comm, where, stat, errmsg) result(r)
    complex(real64), intent(in) :: x(..)
    type(*), intent(in) :: comm(..)
    type(tally_executor), intent(in), optional :: where
    type(*), intent(inout), optional :: stat(..)
    character(*), intent(inout), optional :: errmsg
    real(real64) :: r
    call tally_fortran_complete(x, comm)
    r = 0
    call tally_finish(c_nrm2(x, r, comm, where), stat, errmsg)
  end function

end module
