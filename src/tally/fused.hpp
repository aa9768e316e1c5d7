// An element-wise update together with a sum of what it writes, in one pass over memory: the steps
// of conjugate gradients, BiCGSTAB and their kin.
//
//   axpy_dot, axpy_dotc   y_i = alpha * x_i + y_i, and r = sum_i y_i * v_i
//   waxpby_nrm2           w_i = alpha * x_i + beta * y_i, and r = sqrt(sum_i |w_i|^2)
//
// Promise: both the vector and r have the bits of the two calls one after the other (`axpy` and
// `dot`, `waxpby` and `nrm2`), on every executor, for all types, strides and grades.
//
// One pass is what contiguous vectors of float32, float64, complex64 and complex128 take on CUDA,
// all of one type, starting at multiples of 16 bytes, with the sum in that type and the default
// grade; others take two launches there. The serial and
// kokkos executors make the two calls. simd and openmp take all in one pass.
//
// Errors (tally::error), before anything is written: those of the two calls. v may be y itself, or
// share no memory with it, and the sum goes to no element of the vector that is written: otherwise
// overlap.
#pragma once

#include <tally/dot.hpp>
#include <tally/reduce.hpp>
#include <tally/refusal.hpp>
#include <tally/transform.hpp>

#include <cstdint>
#include <type_traits>

namespace tally {

/// What is summed of a vector that has just been written.
enum class fused_sum : std::uint8_t { dot, nrm2 };

/// What an update with a sum is asked for, its types erased.
struct fused_arguments {
  transform_arguments update;              ///< axpy, axpby or waxpby; its z is what is written
  fused_sum what = fused_sum::dot;         ///< sum z_i v_i, or sqrt(sum |z_i|^2)
  operand v;                               ///< the other vector of dot, perhaps z
  conjugate conjugated = conjugate::none;  ///< of dot: x is z, y is v
  output result;                           ///< where the sum goes, and its type: as of dot or nrm2
  call_options options = {};               ///< the grade of the sum, and whether to wait
};

/// An update with a sum, its types erased: what the templates below call, for bindings.
/// @throws error, see the head of this file.
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

/// y_i = alpha * x_i + y_i; then returns sum_i y_i * v_i, complex vectors unconjugated.
///
/// @param where  the executor.
/// @param alpha  the factor of x, as for `axpy`.
/// @param x      a vector of n elements.
/// @param y      one that is updated.
/// @param v      the other vector of the sum: y itself, or one that shares no memory with it.
/// @param g      `tally::exact` for the correctly rounded sum.
/// @return       the sum, of type `dot_result_t`. Blocks until it is there.
/// @throws error see the head of this file.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dot(const executor& where, S alpha, const X& x, Y&& y, const V& v,
                              grade g = {}) {
  fusions::dot_t<Y, V> r;
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::none, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// As above, and written to the result; doesn't block, as the same form of `dot`.
template <element S, vector_operand X, vector_output Y, vector_operand V,
          result_place_of<fusions::dot_t<Y, V>> R>
  requires fusions::axpy<S, X, Y>
void axpy_dot(const executor& where, S alpha, const X& x, Y&& y, const V& v, R&& result,
              grade g = {}) {
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::none,
                    {results::first("tally::axpy_dot", result), type_of<fusions::dot_t<Y, V>>},
                    {g, false});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dot(S alpha, const X& x, Y&& y, const V& v, grade g = {}) {
  return axpy_dot(automatic(), alpha, x, y, v, g);
}

/// y_i = alpha * x_i + y_i; then returns sum_i conj(y_i) * v_i. Otherwise as `axpy_dot`.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dotc(const executor& where, S alpha, const X& x, Y&& y, const V& v,
                               grade g = {}) {
  fusions::dot_t<Y, V> r;
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::x, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// As above, and written to the result; doesn't block, as the same form of `dot`.
template <element S, vector_operand X, vector_output Y, vector_operand V,
          result_place_of<fusions::dot_t<Y, V>> R>
  requires fusions::axpy<S, X, Y>
void axpy_dotc(const executor& where, S alpha, const X& x, Y&& y, const V& v, R&& result,
               grade g = {}) {
  fusions::axpy_dot(where, alpha, x, y, v, conjugate::x,
                    {results::first("tally::axpy_dotc", result), type_of<fusions::dot_t<Y, V>>},
                    {g, false});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, vector_output Y, vector_operand V>
  requires fusions::axpy<S, X, Y>
fusions::dot_t<Y, V> axpy_dotc(S alpha, const X& x, Y&& y, const V& v, grade g = {}) {
  return axpy_dotc(automatic(), alpha, x, y, v, g);
}

/// w_i = alpha * x_i + beta * y_i; then returns the root of sum_i |w_i|^2.
///
/// @param where        the executor.
/// @param alpha, beta  the factors, as for `waxpby`.
/// @param x, y         vectors of n elements each.
/// @param w            a vector that is written; it may be x or y.
/// @param g            `tally::exact` for the correctly rounded norm.
/// @return             the norm, of type `nrm2_result_t`. Blocks until it is there.
/// @throws error see the head of this file.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires fusions::waxpby<S, X, T, Y, W>
fusions::nrm2_t<W> waxpby_nrm2(const executor& where, S alpha, const X& x, T beta, const Y& y,
                               W&& w, grade g = {}) {
  fusions::nrm2_t<W> r;
  fusions::waxpby_nrm2(where, alpha, x, beta, y, w, {&r, type_of<decltype(r)>}, {g, true});
  return r;
}

/// As above, and written to the result; doesn't block, as the same form of `nrm2`.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W,
          result_place_of<fusions::nrm2_t<W>> R>
  requires fusions::waxpby<S, X, T, Y, W>
void waxpby_nrm2(const executor& where, S alpha, const X& x, T beta, const Y& y, W&& w, R&& result,
                 grade g = {}) {
  fusions::waxpby_nrm2(where, alpha, x, beta, y, w,
                       {results::first("tally::waxpby_nrm2", result), type_of<fusions::nrm2_t<W>>},
                       {g, false});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires fusions::waxpby<S, X, T, Y, W>
fusions::nrm2_t<W> waxpby_nrm2(S alpha, const X& x, T beta, const Y& y, W&& w, grade g = {}) {
  return waxpby_nrm2(automatic(), alpha, x, beta, y, w, g);
}

// --- What is no operand ---------------------------------------------------------------------------

namespace fusions {

using for_axpy_dot =
    refusals::arguments<refusals::factor, refusals::vector, refusals::output, refusals::vector>;
using for_waxpby_nrm2 = refusals::arguments<refusals::factor, refusals::vector, refusals::factor,
                                            refusals::vector, refusals::output>;

}  // namespace fusions

/// Says what is no operand.
template <class... T>
  requires refusals::refused<fusions::for_axpy_dot, T...>
auto axpy_dot(const T&...) {
  return refusals::refuse<fusions::for_axpy_dot, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axpy_dot(...) {
  static_assert(refusals::never<T...>,
                "axpy_dot(alpha, x, y, v) may begin with an executor, and end with tally::exact; "
                "with an executor a result, a pointer or memory of the type returned, may follow "
                "v; alpha, x and y are as for axpy, y and v as for dot");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<fusions::for_axpy_dot, T...>
auto axpy_dotc(const T&...) {
  return refusals::refuse<fusions::for_axpy_dot, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axpy_dotc(...) {
  static_assert(refusals::never<T...>,
                "axpy_dotc(alpha, x, y, v) may begin with an executor, and end with "
                "tally::exact; with an executor a result, a pointer or memory of the type "
                "returned, may follow v; alpha, x and y are as for axpy, y and v as for dot");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<fusions::for_waxpby_nrm2, T...>
auto waxpby_nrm2(const T&...) {
  return refusals::refuse<fusions::for_waxpby_nrm2, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto waxpby_nrm2(...) {
  static_assert(refusals::never<T...>,
                "waxpby_nrm2(alpha, x, beta, y, w) may begin with an executor, and end with "
                "tally::exact; with an executor a result, a pointer or memory of the type "
                "returned, may follow w; the arguments are as for waxpby, and w as for nrm2");
  return 0.0;
}

}  // namespace tally
