// The library's symbols: a function for each convention and routine, whose names are aliases.
#include "backends/common/order/dot_sum.hpp"
#include "bindings/blas/gemv.hpp"
#include "bindings/blas/level_one.hpp"
#include "bindings/blas/names.h"

#include <tally/operands/types.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally::blas {
namespace {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// --- Types of arguments and results --------------------------------------------------------------

template <class T>
inline constexpr bool is_number = std::is_floating_point_v<T>;

// CBLAS passes complex numbers and vectors of them by untyped pointers.
template <class T>
using c_number = std::conditional_t<is_number<T>, T, const void*>;
template <class T>
using c_vector = std::conditional_t<is_number<T>, T, void>;

template <class T>
T number_of(c_number<T> x) {
  if constexpr (is_number<T>) {
    return x;
  } else {
    return *static_cast<const T*>(x);
  }
}

/// A result that Fortran returns, complex ones in registers.
template <class T>
struct returned {
  using type = T;
};
template <>
struct returned<complex64> {
  using type = float _Complex;
};
template <>
struct returned<complex128> {
  using type = double _Complex;
};
template <class T>
typename returned<T>::type as_returned(T x) {
  typename returned<T>::type result;
  std::memcpy(&result, &x, sizeof result);
  return result;
}

/// An index as CBLAS returns it: 0 for none.
std::size_t c_index(length index) { return index < 0 ? 0 : static_cast<std::size_t>(index); }

float sdsdot(length n, float b, const float* x, length incx, const float* y, length incy) {
  using namespace backends;
  const default_environment environment;
  const double sum = static_cast<double>(settled(b)) + blas::dot<double>(n, x, incx, y, incy);
  return settled(canonical(static_cast<float>(sum)));
}

/// Elements of a matrix; none where a dimension is invalid.
length elements_of(length m, length n) { return m > 0 && n > 0 ? m * n : 0; }

/// Counts a call of the function that has this in it.
[[gnu::always_inline]] inline void enter(routine called, length elements) {
  if (set().verbose) [[unlikely]]
    count(called, elements, __builtin_return_address(0));
}

/// Calls that no short kernel takes. Not inlined, and called last: the symbol itself saves no
/// registers.
template <routine called, class R, class... A>
[[gnu::noinline]] R otherwise(const void* caller, length n, A... rest) {
  if (set().verbose) [[unlikely]]
    count(called, n, caller);
  if constexpr (called == routine::dot) return blas::dot<R>(n, rest...);
  if constexpr (called == routine::asum) return blas::asum<R>(n, rest...);
  if constexpr (called == routine::nrm2) return blas::nrm2<R>(n, rest...);
  if constexpr (called == routine::iamax) return blas::iamax(n, rest...);
  if constexpr (called == routine::axpy) return blas::axpy(n, rest...);
  if constexpr (called == routine::scal) return blas::scal(n, rest...);
  if constexpr (called == routine::copy) return blas::copy(n, rest...);
  if constexpr (called == routine::swap) return blas::swap(n, rest...);
}
#define OTHERWISE(called, R, ...) \
  otherwise<routine::called, R>(__builtin_return_address(0), __VA_ARGS__)

}  // namespace

// --- Functions -----------------------------------------------------------------------------------

// Each is named by its convention and routine: fortran64_ddot. T: elements, R: result or factor.
extern "C" {

// Fortran: all arguments by address.
#define FORTRAN_dot(F, I, T, R)                                           \
  R F(const I* n, const T* x, const I* incx, const T* y, const I* incy) { \
    R result;                                                             \
    if (usual_dot(result, *n, x, *incx, y, *incy)) return result;         \
    return OTHERWISE(dot, R, *n, x, *incx, y, *incy);                     \
  }
#define FORTRAN_sdsdot(F, I, T, R)                                                    \
  R F(const I* n, const T* b, const T* x, const I* incx, const T* y, const I* incy) { \
    enter(routine::dot, *n);                                                          \
    return sdsdot(*n, *b, x, *incx, y, *incy);                                        \
  }
#ifdef TALLY_BLAS_F2C  // complex results in memory at the address of a first argument
#define FORTRAN_COMPLEX(F, I, T, R, conjugated)                                         \
  void F(R* result, const I* n, const T* x, const I* incx, const T* y, const I* incy) { \
    enter(routine::dot, *n);                                                            \
    *result = blas::dot<R>(*n, x, *incx, y, *incy, conjugated);                         \
  }
#else
#define FORTRAN_COMPLEX(F, I, T, R, conjugated)                                           \
  returned<R>::type F(const I* n, const T* x, const I* incx, const T* y, const I* incy) { \
    enter(routine::dot, *n);                                                              \
    return as_returned(blas::dot<R>(*n, x, *incx, y, *incy, conjugated));                 \
  }
#endif
#define FORTRAN_dotu(F, I, T, R) FORTRAN_COMPLEX(F, I, T, R, conjugate::none)
#define FORTRAN_dotc(F, I, T, R) FORTRAN_COMPLEX(F, I, T, R, conjugate::x)
#define FORTRAN_asum(F, I, T, R)                                         \
  R F(const I* n, const T* x, const I* incx) {                           \
    R result;                                                            \
    if (usual_sum(reduction::asum, result, *n, x, *incx)) return result; \
    return OTHERWISE(asum, R, *n, x, *incx);                             \
  }
#define FORTRAN_nrm2(F, I, T, R)                                         \
  R F(const I* n, const T* x, const I* incx) {                           \
    R result;                                                            \
    if (usual_sum(reduction::nrm2, result, *n, x, *incx)) return result; \
    return OTHERWISE(nrm2, R, *n, x, *incx);                             \
  }
#define FORTRAN_iamax(F, I, T, R)                                           \
  I F(const I* n, const T* x, const I* incx) {                              \
    length index;                                                           \
    if (usual_iamax(index, *n, x, *incx)) return static_cast<I>(index + 1); \
    return static_cast<I>(OTHERWISE(iamax, length, *n, x, *incx) + 1);      \
  }
#define FORTRAN_axpy(F, I, T, R)                                                       \
  void F(const I* n, const R* alpha, const T* x, const I* incx, T* y, const I* incy) { \
    if (usual_axpy<T>(*n, *alpha, x, *incx, y, *incy)) return;                         \
    OTHERWISE(axpy, void, *n, *alpha, x, *incx, y, *incy);                             \
  }
#define FORTRAN_axpby(F, I, T, R)                                                    \
  void F(const I* n, const R* alpha, const T* x, const I* incx, const R* beta, T* y, \
         const I* incy) {                                                            \
    enter(routine::axpby, *n);                                                       \
    blas::axpby(*n, *alpha, x, *incx, *beta, y, *incy);                              \
  }
#define FORTRAN_scal(F, I, T, R)                            \
  void F(const I* n, const R* alpha, T* x, const I* incx) { \
    if (usual_scal(*n, *alpha, x, *incx)) return;           \
    OTHERWISE(scal, void, *n, *alpha, x, *incx);            \
  }
#define FORTRAN_copy(F, I, T, R)                                       \
  void F(const I* n, const T* x, const I* incx, T* y, const I* incy) { \
    if (usual_copy(*n, x, *incx, y, *incy)) return;                    \
    OTHERWISE(copy, void, *n, x, *incx, y, *incy);                     \
  }
#define FORTRAN_swap(F, I, T, R)                                 \
  void F(const I* n, T* x, const I* incx, T* y, const I* incy) { \
    if (usual_swap(*n, x, *incx, y, *incy)) return;              \
    OTHERWISE(swap, void, *n, x, *incx, y, *incy);               \
  }
#define FORTRAN_gemv(F, I, T, R)                                                              \
  void F(const char* trans, const I* m, const I* n, const R* alpha, const T* a, const I* lda, \
         const T* x, const I* incx, const R* beta, T* y, const I* incy) {                     \
    enter(routine::gemv, elements_of(*m, *n));                                                \
    fortran_gemv<T>(*trans, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);              \
  }

// C: integers and real numbers by value.
#define C_dot(F, I, T, R)                                      \
  R F(I n, const T* x, I incx, const T* y, I incy) {           \
    R result;                                                  \
    if (usual_dot(result, n, x, incx, y, incy)) return result; \
    return OTHERWISE(dot, R, n, x, incx, y, incy);             \
  }
#define C_sdsdot(F, I, T, R)                              \
  R F(I n, T b, const T* x, I incx, const T* y, I incy) { \
    enter(routine::dot, n);                               \
    return sdsdot(n, b, x, incx, y, incy);                \
  }
#define C_COMPLEX(F, I, T, R, conjugated)                                                \
  void F(I n, const void* x, I incx, const void* y, I incy, void* result) {              \
    enter(routine::dot, n);                                                              \
    *static_cast<R*>(result) = blas::dot<R>(n, static_cast<const T*>(x), incx,           \
                                            static_cast<const T*>(y), incy, conjugated); \
  }
#define C_dotu(F, I, T, R) C_COMPLEX(F, I, T, R, conjugate::none)
#define C_dotc(F, I, T, R) C_COMPLEX(F, I, T, R, conjugate::x)
#define C_asum(F, I, T, R)                                                                    \
  R F(I n, const c_vector<T>* x, I incx) {                                                    \
    R result;                                                                                 \
    if (usual_sum(reduction::asum, result, n, static_cast<const T*>(x), incx)) return result; \
    return OTHERWISE(asum, R, n, static_cast<const T*>(x), incx);                             \
  }
#define C_nrm2(F, I, T, R)                                                                    \
  R F(I n, const c_vector<T>* x, I incx) {                                                    \
    R result;                                                                                 \
    if (usual_sum(reduction::nrm2, result, n, static_cast<const T*>(x), incx)) return result; \
    return OTHERWISE(nrm2, R, n, static_cast<const T*>(x), incx);                             \
  }
#define C_iamax(F, I, T, R)                                                           \
  std::size_t F(I n, const c_vector<T>* x, I incx) {                                  \
    length index;                                                                     \
    if (usual_iamax(index, n, static_cast<const T*>(x), incx)) return c_index(index); \
    return c_index(OTHERWISE(iamax, length, n, static_cast<const T*>(x), incx));      \
  }
#define C_axpy(F, I, T, R)                                                                        \
  void F(I n, c_number<R> alpha, const c_vector<T>* x, I incx, c_vector<T>* y, I incy) {          \
    if (usual_axpy<T>(n, number_of<R>(alpha), static_cast<const T*>(x), incx, static_cast<T*>(y), \
                      incy))                                                                      \
      return;                                                                                     \
    OTHERWISE(axpy, void, n, number_of<R>(alpha), static_cast<const T*>(x), incx,                 \
              static_cast<T*>(y), incy);                                                          \
  }
#define C_axpby(F, I, T, R)                                                                      \
  void F(I n, c_number<R> alpha, const c_vector<T>* x, I incx, c_number<R> beta, c_vector<T>* y, \
         I incy) {                                                                               \
    enter(routine::axpby, n);                                                                    \
    blas::axpby(n, number_of<R>(alpha), static_cast<const T*>(x), incx, number_of<R>(beta),      \
                static_cast<T*>(y), incy);                                                       \
  }
#define C_scal(F, I, T, R)                                                    \
  void F(I n, c_number<R> alpha, c_vector<T>* x, I incx) {                    \
    if (usual_scal(n, number_of<R>(alpha), static_cast<T*>(x), incx)) return; \
    OTHERWISE(scal, void, n, number_of<R>(alpha), static_cast<T*>(x), incx);  \
  }
#define C_copy(F, I, T, R)                                                               \
  void F(I n, const c_vector<T>* x, I incx, c_vector<T>* y, I incy) {                    \
    if (usual_copy(n, static_cast<const T*>(x), incx, static_cast<T*>(y), incy)) return; \
    OTHERWISE(copy, void, n, static_cast<const T*>(x), incx, static_cast<T*>(y), incy);  \
  }
#define C_swap(F, I, T, R)                                                         \
  void F(I n, c_vector<T>* x, I incx, c_vector<T>* y, I incy) {                    \
    if (usual_swap(n, static_cast<T*>(x), incx, static_cast<T*>(y), incy)) return; \
    OTHERWISE(swap, void, n, static_cast<T*>(x), incx, static_cast<T*>(y), incy);  \
  }
#define C_gemv(F, I, T, R)                                                                   \
  void F(int order, int trans, I m, I n, c_number<R> alpha, const c_vector<T>* a, I lda,     \
         const c_vector<T>* x, I incx, c_number<R> beta, c_vector<T>* y, I incy) {           \
    enter(routine::gemv, elements_of(m, n));                                                 \
    c_gemv<T>(order, trans, m, n, number_of<R>(alpha), static_cast<const T*>(a), lda,        \
              static_cast<const T*>(x), incx, number_of<R>(beta), static_cast<T*>(y), incy); \
  }

// Subroutines of Fortran, which leave the result in their last argument.
#define SUBROUTINE_dot(F, I, T, R)                                                      \
  void F(const I* n, const T* x, const I* incx, const T* y, const I* incy, R* result) { \
    enter(routine::dot, *n);                                                            \
    *result = blas::dot<R>(*n, x, *incx, y, *incy);                                     \
  }
#define SUBROUTINE_sdsdot(F, I, T, R)                                                  \
  void F(const I* n, const T* b, const T* x, const I* incx, const T* y, const I* incy, \
         R* result) {                                                                  \
    enter(routine::dot, *n);                                                           \
    *result = sdsdot(*n, *b, x, *incx, y, *incy);                                      \
  }
#define SUBROUTINE_COMPLEX(F, I, T, R, conjugated)                                      \
  void F(const I* n, const T* x, const I* incx, const T* y, const I* incy, R* result) { \
    enter(routine::dot, *n);                                                            \
    *result = blas::dot<R>(*n, x, *incx, y, *incy, conjugated);                         \
  }
#define SUBROUTINE_dotu(F, I, T, R) SUBROUTINE_COMPLEX(F, I, T, R, conjugate::none)
#define SUBROUTINE_dotc(F, I, T, R) SUBROUTINE_COMPLEX(F, I, T, R, conjugate::x)
#define SUBROUTINE_asum(F, I, T, R)                          \
  void F(const I* n, const T* x, const I* incx, R* result) { \
    enter(routine::asum, *n);                                \
    *result = blas::asum<R>(*n, x, *incx);                   \
  }
#define SUBROUTINE_nrm2(F, I, T, R)                          \
  void F(const I* n, const T* x, const I* incx, R* result) { \
    enter(routine::nrm2, *n);                                \
    *result = blas::nrm2<R>(*n, x, *incx);                   \
  }
#define SUBROUTINE_iamax(F, I, T, R)                         \
  void F(const I* n, const T* x, const I* incx, I* result) { \
    enter(routine::iamax, *n);                               \
    *result = static_cast<I>(blas::iamax(*n, x, *incx) + 1); \
  }
#define SUBROUTINE_axpy(F, I, T, R)
#define SUBROUTINE_axpby(F, I, T, R)
#define SUBROUTINE_scal(F, I, T, R)
#define SUBROUTINE_copy(F, I, T, R)
#define SUBROUTINE_swap(F, I, T, R)
#define SUBROUTINE_gemv(F, I, T, R)

#define FUNCTIONS(name, c_name, shape, T, R)                                                  \
  FORTRAN_##shape(fortran32_##name, std::int32_t, T, R)                                       \
      FORTRAN_##shape(fortran64_##name, std::int64_t, T, R)                                   \
          C_##shape(c32_##name, std::int32_t, T, R) C_##shape(c64_##name, std::int64_t, T, R) \
              SUBROUTINE_##shape(subroutine32_##name, std::int32_t, T, R)                     \
                  SUBROUTINE_##shape(subroutine64_##name, std::int64_t, T, R)
TALLY_BLAS_ROUTINES(FUNCTIONS)

// --- Names ---------------------------------------------------------------------------------------

#define NAME(convention, name, symbol) \
  [[gnu::visibility("default"),        \
    gnu::alias(#convention "_" #name)]] decltype(convention##_##name) symbol;
#define NAMES(name, c_name, shape, T, R) \
  TALLY_BLAS_NAMES(NAME, name, c_name)   \
  TALLY_BLAS_SUBROUTINE_##shape(NAME, name)
TALLY_BLAS_ROUTINES(NAMES)

}  // extern "C"

}  // namespace tally::blas
