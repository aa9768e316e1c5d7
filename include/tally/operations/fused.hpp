// An element-wise update with a sum of the output, as in conjugate gradients.
//
//   axpy_dot      y_i = alpha*x_i + y_i, and r = sum_i y_i*v_i
//   waxpby_nrm2   w_i = alpha*x_i + beta*y_i, and r = sqrt(sum_i |w_i|^2)
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

#include <tally/detail/arguments.hpp>
#include <tally/detail/sums.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/reduce.hpp>
#include <tally/operations/transform.hpp>

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

namespace detail {

template <class Y, class V>
using axpy_dot_sum = product_sum<element_t<std::remove_cvref_t<Y>>, element_t<V>>;
template <class W>
using waxpby_nrm2_sum = reduction_sum<reduction::nrm2, std::remove_cvref_t<W>>;

template <class S, class X, class Y, class V>
constexpr bool is_axpy_dot() {
  return is_vector<V>() && is_computable<elementwise::axpy, X, std::remove_cvref_t<Y>, Y, S>();
}

template <class S, class X, class Y, class V>
auto axpy_dot_call(const executor& where, const S& alpha, const X& x, Y& y, const V& v,
                   conjugate conjugated) {
  return [=, &where,
          update =
              transform_arguments{
                  elementwise::axpy, alpha, {}, as_operand(x), as_operand(y), as_output(y)},
          other = as_operand(v)](const output& to, const call_options& options) {
    fused(where, {update, fused_sum::dot, other, conjugated, to, options});
  };
}

template <class S, class X, class T, class Y, class W>
auto waxpby_nrm2_call(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
                      W& w) {
  return [&where, update = transform_arguments{elementwise::waxpby, alpha, beta, as_operand(x),
                                               as_operand(y), as_output(w)}](
             const output& to, const call_options& options) {
    fused(where, {update, fused_sum::nrm2, {}, conjugate::none, to, options});
  };
}

}  // namespace detail

/// y_i = alpha*x_i + y_i; returns sum_i y_i*v_i. Blocks.
///
/// @param v      y itself, or n elements that share no memory with y.
/// @param how    as of `dot`: `conjugate::x` for sum_i conj(y_i)*v_i, and the grade.
template <class S, class X, class Y, class V>
auto axpy_dot(const executor& where, const S& alpha, const X& x, Y&& y, const V& v,
              dot_options how = {}) {
  if constexpr (detail::is_axpy_dot<S, X, Y, V>()) {
    return detail::returned_sum<detail::axpy_dot_sum<Y, V>, void>(
        how.grade, detail::axpy_dot_call(where, alpha, x, y, v, how.conjugated));
  } else {
    return 0.0;
  }
}

/// Into a result, not exact sums. Doesn't block.
template <class S, class X, class Y, class V, class R>
  requires(!std::convertible_to<R, dot_options>)
auto axpy_dot(const executor& where, const S& alpha, const X& x, Y&& y, const V& v, R&& result,
              dot_options how = {}) {
  if constexpr (detail::is_axpy_dot<S, X, Y, V>()) {
    detail::written_sums<detail::axpy_dot_sum<Y, V>>(
        "tally::axpy_dot", 1, result, how.grade,
        detail::axpy_dot_call(where, alpha, x, y, v, how.conjugated));
  }
}

/// The returned form on `automatic()`.
template <class... T, bool valid = detail::is_call<4, dot_options, T...>>
  requires(!detail::on_executor<4, 6, T...>)
auto axpy_dot(T&&... arguments) {
  static_assert(valid,
                "axpy_dot(alpha, x, y, v) may begin with an executor, and end with tally::exact or "
                "tally::conjugate::x; with an executor a result may follow v");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return axpy_dot(where, arguments...); });
}

/// w_i = alpha*x_i + beta*y_i; returns sqrt(sum_i |w_i|^2). Blocks.
///
/// @param w      n elements, written; may be x or y.
/// @param g      `tally::exact` for the correctly rounded norm.
template <class S, class X, class T, class Y, class W>
auto waxpby_nrm2(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
                 W&& w, grade g = {}) {
  if constexpr (detail::is_computable<elementwise::waxpby, X, Y, W, S, T>()) {
    return detail::returned_sum<detail::waxpby_nrm2_sum<W>, void>(
        g, detail::waxpby_nrm2_call(where, alpha, x, beta, y, w));
  } else {
    return 0.0;
  }
}

/// Into a result, not exact sums. Doesn't block.
template <class S, class X, class T, class Y, class W, class R>
  requires(!std::convertible_to<R, grade>)
auto waxpby_nrm2(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
                 W&& w, R&& result, grade g = {}) {
  if constexpr (detail::is_computable<elementwise::waxpby, X, Y, W, S, T>()) {
    detail::written_sums<detail::waxpby_nrm2_sum<W>>(
        "tally::waxpby_nrm2", 1, result, g, detail::waxpby_nrm2_call(where, alpha, x, beta, y, w));
  }
}

/// The returned form on `automatic()`.
template <class... T, bool valid = detail::is_call<5, grade, T...>>
  requires(!detail::on_executor<5, 7, T...>)
auto waxpby_nrm2(T&&... arguments) {
  static_assert(valid,
                "waxpby_nrm2(alpha, x, beta, y, w) may begin with an executor, and end with "
                "tally::exact; with an executor a result may follow w");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return waxpby_nrm2(where, arguments...); });
}

}  // namespace tally
