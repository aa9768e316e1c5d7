// The routines of libtally_blas and all names of each: the library's symbols, its list of exports
// and its tests are made of these lists, by the preprocessor alone.
//
// With TALLY_BLAS_PLAIN_64 defined, plain names (ddot_, ddot, cblas_ddot) have 64-bit integers, as
// in Debian's libblas64.so.3.
#pragma once

// R(name, name in CBLAS, shape, elements, result or factor): the shape is that of the arguments.
#define TALLY_BLAS_ROUTINES(R)                      \
  R(sdot, sdot, dot, float, float)                  \
  R(ddot, ddot, dot, double, double)                \
  R(dsdot, dsdot, dot, float, double)               \
  R(sdsdot, sdsdot, sdsdot, float, float)           \
  R(cdotu, cdotu_sub, dotu, complex64, complex64)   \
  R(zdotu, zdotu_sub, dotu, complex128, complex128) \
  R(cdotc, cdotc_sub, dotc, complex64, complex64)   \
  R(zdotc, zdotc_sub, dotc, complex128, complex128) \
  R(sasum, sasum, asum, float, float)               \
  R(dasum, dasum, asum, double, double)             \
  R(scasum, scasum, asum, complex64, float)         \
  R(dzasum, dzasum, asum, complex128, double)       \
  R(snrm2, snrm2, nrm2, float, float)               \
  R(dnrm2, dnrm2, nrm2, double, double)             \
  R(scnrm2, scnrm2, nrm2, complex64, float)         \
  R(dznrm2, dznrm2, nrm2, complex128, double)       \
  R(isamax, isamax, iamax, float, float)            \
  R(idamax, idamax, iamax, double, double)          \
  R(icamax, icamax, iamax, complex64, float)        \
  R(izamax, izamax, iamax, complex128, double)      \
  R(saxpy, saxpy, axpy, float, float)               \
  R(daxpy, daxpy, axpy, double, double)             \
  R(caxpy, caxpy, axpy, complex64, complex64)       \
  R(zaxpy, zaxpy, axpy, complex128, complex128)     \
  R(saxpby, saxpby, axpby, float, float)            \
  R(daxpby, daxpby, axpby, double, double)          \
  R(caxpby, caxpby, axpby, complex64, complex64)    \
  R(zaxpby, zaxpby, axpby, complex128, complex128)  \
  R(sscal, sscal, scal, float, float)               \
  R(dscal, dscal, scal, double, double)             \
  R(cscal, cscal, scal, complex64, complex64)       \
  R(zscal, zscal, scal, complex128, complex128)     \
  R(csscal, csscal, scal, complex64, float)         \
  R(zdscal, zdscal, scal, complex128, double)       \
  R(scopy, scopy, copy, float, float)               \
  R(dcopy, dcopy, copy, double, double)             \
  R(ccopy, ccopy, copy, complex64, complex64)       \
  R(zcopy, zcopy, copy, complex128, complex128)     \
  R(sswap, sswap, swap, float, float)               \
  R(dswap, dswap, swap, double, double)             \
  R(cswap, cswap, swap, complex64, complex64)       \
  R(zswap, zswap, swap, complex128, complex128)     \
  R(sgemv, sgemv, gemv, float, float)               \
  R(dgemv, dgemv, gemv, double, double)             \
  R(cgemv, cgemv, gemv, complex64, complex64)       \
  R(zgemv, zgemv, gemv, complex128, complex128)

// N(convention, name, symbol) for each name of a routine. A convention's symbols are one function:
// Fortran's (arguments by address), C's, and Fortran's with the result as the last argument, each
// with integers of 32 or 64 bits.
#define TALLY_BLAS_PLAIN_NAMES(N, fortran, c, name, c_name) \
  N(fortran, name, name##_) /* gfortran, flang */           \
  N(fortran, name, name)    /* IBM; MKL has both */         \
  N(c, name, cblas_##c_name)
#ifdef TALLY_BLAS_PLAIN_64
#define TALLY_BLAS_PLAIN(N, name, c_name) TALLY_BLAS_PLAIN_NAMES(N, fortran64, c64, name, c_name)
#else
#define TALLY_BLAS_PLAIN(N, name, c_name) TALLY_BLAS_PLAIN_NAMES(N, fortran32, c32, name, c_name)
#endif
#define TALLY_BLAS_NAMES(N, name, c_name)                                   \
  TALLY_BLAS_PLAIN(N, name, c_name)                                         \
  N(fortran32, name, scipy_##name##_)    /* SciPy's wheels */               \
  N(fortran64, name, scipy_##name##_64_) /* NumPy's wheels */               \
  N(fortran64, name, name##_64_)         /* netlib from 3.11, MKL, Julia */ \
  N(fortran64, name, name##64_)          /* OpenBLAS with a suffix */       \
  N(c32, name, scipy_cblas_##c_name)                                        \
  N(c64, name, scipy_cblas_##c_name##64_)                                   \
  N(c64, name, cblas_##c_name##64_) /* OpenBLAS */                          \
  N(c64, name, cblas_##c_name##_64) /* netlib, MKL */

// The subroutines behind the CBLAS of netlib and BLIS, of routines with a result.
#ifdef TALLY_BLAS_PLAIN_64
#define TALLY_BLAS_SUBROUTINE_NAMES(N, name) \
  N(subroutine64, name, name##sub_)          \
  N(subroutine64, name, name##sub_64_)
#else
#define TALLY_BLAS_SUBROUTINE_NAMES(N, name) \
  N(subroutine32, name, name##sub_)          \
  N(subroutine64, name, name##sub_64_)
#endif

// Which shapes have a subroutine: those with a result.
#define TALLY_BLAS_SUBROUTINE_dot(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_sdsdot(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_dotu(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_dotc(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_asum(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_nrm2(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_iamax(N, name) TALLY_BLAS_SUBROUTINE_NAMES(N, name)
#define TALLY_BLAS_SUBROUTINE_axpy(N, name)
#define TALLY_BLAS_SUBROUTINE_axpby(N, name)
#define TALLY_BLAS_SUBROUTINE_scal(N, name)
#define TALLY_BLAS_SUBROUTINE_copy(N, name)
#define TALLY_BLAS_SUBROUTINE_swap(N, name)
#define TALLY_BLAS_SUBROUTINE_gemv(N, name)
