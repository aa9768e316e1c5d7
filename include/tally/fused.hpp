// An element-wise update with a sum of the output, as in conjugate gradients.
//
//   axpy_dot, axpy_dotc   y_i = alpha*x_i + y_i, and r = sum_i y_i*v_i
//   waxpby_nrm2           w_i = alpha*x_i + beta*y_i, and r = sqrt(sum_i |w_i|^2)
//
// Promise: vector and r have the bits of the two separate calls.
//
// One pass over memory on simd and openmp; on CUDA for contiguous, 16-byte aligned vectors of one
// type (float32, float64, complex64, complex128), summed in that type and the default grade,
// otherwise two launches. serial and kokkos make two calls.
//
// Errors (tally::error), before anything is written: those of the two calls; overlap, if v shares
// memory with y without being y, or the result is in the written vector.
#pragma once

#include <tally/detail/refusal.hpp>
#include <tally/dot.hpp>
#include <tally/reduce.hpp>
#include <tally/transform.hpp>

#include <cstdint>
#include <type_traits>

namespace tally {

/// The sum of the written vector.
enum class fused_sum : std::uint8_t { dot, nrm2 };

/// Arguments with types erased.
struct fused_arguments {
  transform_arguments update;              ///< axpy, axpby or waxpby; z is written
  fused_sum what = fused_sum::dot;         ///< sum z_i v_i, or sqrt(sum |z_i|^2)
  operand v;                               ///< of dot, the other vector; may be z
  conjugate conjugated = conjugate::none;  ///< of dot: x is z, y is v
  output result;                           ///< destination and type of the sum
  call_options options = {};               ///< the sum's grade; whether to wait
};

/// The updates with types erased.
TALLY_EXPORT void fused(const executor& where, const fused_arguments& arguments);

namespace fusions {

template <class S, class X, class Y>
concept axpy = transforms::computable<elementwise::axpy, X, Y, Y> &&
               transforms::factor<S, elementwise::axpy, X, Y, Y>;

template <class S, class X, class T, class Y, class W>
concept waxpby = transforms::computable<elementwise::waxpby, X, Y, W> &&
                 transforms::factor<S, elementwise::waxpby, X, Y, W> &&
                 transforms::factor<T, elementwise::waxpby, X, Y, W>;

template <class Y, class V>
using dot_t = dot_result_t<element_t<std::remove_cvref_t<Y>>, element_t<std::remove_cvref_t<V>>>;

template <class W>
using nrm2_t = nrm2_result_t<element_t<std::remove_cvref_t<W>>>;

template <class S, class X, class Y, class V>
void axpy_dot(const executor& where, S alpha, const X& x, Y& y, const V& v, conjugate conjugated,
              output result, call_options options) {
  fused(where, {{elementwise::axpy, alpha, {}, as_operand(x), as_operand(y), as_output(y)},
                fused_sum::dot,
                as_operand(v),
                conjugated,
                result,
                options});
}

template <class S, class X, class T, class Y, class W>
void waxpby_nrm2(const executor& where, S alpha, const X& x, T beta, const Y& y, W& w,
                 output result, call_options options) {
  fused(where, {{elementwise::waxpby, alpha, beta, as_operand(x), as_operand(y), as_output(w)},
                fused_sum::nrm2,
                {},
                conjugate::none,
                result,
                options});
}

}  // namespace fusions

/// y_i = alpha*x_i + y_i; returns sum_i y_i*v_i, unconjugated. Blocks.
///
/// @param v      y itself, or n elements that share no memory with y.
/// @param g      `tally::exact` for the correctly rounded sum.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dot(const executor& where, S alpha, const X& x, Y&& y, const V& v,
                              grade g = {}) {
  fusions::dot_t<Y, V> r;
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::none, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// Into a result. Doesn't block.
template <element S, vector_operand X, vector_output Y, vector_operand V,
          result_place_of<fusions::dot_t<Y, V>> R>
  requires fusions::axpy<S, X, Y>
void axpy_dot(const executor& where, S alpha, const X& x, Y&& y, const V& v, R&& result,
              grade g = {}) {
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::none,
                    {results::first("tally::axpy_dot", result), type_of<fusions::dot_t<Y, V>>},
                    {g, false});
}

/// The same on `automatic()`.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dot(S alpha, const X& x, Y&& y, const V& v, grade g = {}) {
  return axpy_dot(automatic(), alpha, x, y, v, g);
}

/// y_i = alpha*x_i + y_i; returns sum_i conj(y_i)*v_i.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dotc(const executor& where, S alpha, const X& x, Y&& y, const V& v,
                               grade g = {}) {
  fusions::dot_t<Y, V> r;
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::x, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// Into a result. Doesn't block.
template <element S, vector_operand X, vector_output Y, vector_operand V,
          result_place_of<fusions::dot_t<Y, V>> R>
  requires fusions::axpy<S, X, Y>
void axpy_dotc(const executor& where, S alpha, const X& x, Y&& y, const V& v, R&& result,
               grade g = {}) {
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::x,
                    {results::first("tally::axpy_dotc", result), type_of<fusions::dot_t<Y, V>>},
                    {g, false});
}

/// The same on `automatic()`.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dotc(S alpha, const X& x, Y&& y, const V& v, grade g = {}) {
  return axpy_dotc(automatic(), alpha, x, y, v, g);
}

/// w_i = alpha*x_i + beta*y_i; returns sqrt(sum_i |w_i|^2). Blocks.
///
/// @param w      n elements, written; may be x or y.
/// @param g      `tally::exact` for the correctly rounded norm.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires fusions::waxpby<S, X, T, Y, W>
fusions::nrm2_t<W> waxpby_nrm2(const executor& where, S alpha, const X& x, T beta, const Y& y,
                               W&& w, grade g = {}) {
  fusions::nrm2_t<W> r;
  fusions::waxpby_nrm2(where, alpha, x, beta, y, w, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// Into a result. Doesn't block.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W,
          result_place_of<fusions::nrm2_t<W>> R>
  requires fusions::waxpby<S, X, T, Y, W>
void waxpby_nrm2(const executor& where, S alpha, const X& x, T beta, const Y& y, W&& w, R&& result,
                 grade g = {}) {
  fusions::waxpby_nrm2(where, alpha, x, beta, y, w,
                       {results::first("tally::waxpby_nrm2", result), type_of<fusions::nrm2_t<W>>},
                       {g, false});
}

/// The same on `automatic()`.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires fusions::waxpby<S, X, T, Y, W>
fusions::nrm2_t<W> waxpby_nrm2(S alpha, const X& x, T beta, const Y& y, W&& w, grade g = {}) {
  return waxpby_nrm2(automatic(), alpha, x, beta, y, w, g);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace fusions {

using for_axpy_dot =
    refusals::arguments<refusals::factor, refusals::vector, refusals::output, refusals::vector>;
using for_waxpby_nrm2 = refusals::arguments<refusals::factor, refusals::vector, refusals::factor,
                                            refusals::vector, refusals::output>;

}  // namespace fusions

template <class... T>
  requires refusals::refused<fusions::for_axpy_dot, T...>
auto axpy_dot(const T&...) {
  return refusals::refuse<fusions::for_axpy_dot, T...>();
}

template <class... T>
auto axpy_dot(...) {
  static_assert(refusals::never<T...>,
                "axpy_dot(alpha, x, y, v) may begin with an executor, and end with tally::exact; "
                "with an executor a result, a pointer or memory of the type returned, may follow "
                "v; alpha, x and y are as for axpy, y and v as for dot");
  return 0.0;
}

template <class... T>
  requires refusals::refused<fusions::for_axpy_dot, T...>
auto axpy_dotc(const T&...) {
  return refusals::refuse<fusions::for_axpy_dot, T...>();
}

template <class... T>
auto axpy_dotc(...) {
  static_assert(refusals::never<T...>,
                "axpy_dotc(alpha, x, y, v) may begin with an executor, and end with "
                "tally::exact; with an executor a result, a pointer or memory of the type "
                "returned, may follow v; alpha, x and y are as for axpy, y and v as for dot");
  return 0.0;
}

template <class... T>
  requires refusals::refused<fusions::for_waxpby_nrm2, T...>
auto waxpby_nrm2(const T&...) {
  return refusals::refuse<fusions::for_waxpby_nrm2, T...>();
}

template <class... T>
auto waxpby_nrm2(...) {
  static_assert(refusals::never<T...>,
                "waxpby_nrm2(alpha, x, beta, y, w) may begin with an executor, and end with "
                "tally::exact; with an executor a result, a pointer or memory of the type "
                "returned, may follow w; the arguments are as for waxpby, and w as for nrm2");
  return 0.0;
}

// @endcond
}  // namespace tally
