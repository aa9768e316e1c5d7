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
#include <tally/detail/elementwise_call.hpp>
#include <tally/detail/sums.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/reduce.hpp>

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
using axpy_dot_sum = product_sum<element_t<Y>, element_t<V>>;
template <class W>
using waxpby_nrm2_sum = reduction_sum<reduction::nrm2, std::remove_cvref_t<W>>;

struct axpy_dot_call : sum_call<axpy_dot_call, void, dot_options, fused_arguments> {
  template <class S, class X, class Y, class V>
  static consteval wrong of() {
    return first_wrong<elementwise_call<elementwise::axpy>::template of<S, X, Y>(),
                       wrong_vector<V>>;
  }
  template <class S, class X, class Y, class V>
  using sum = axpy_dot_sum<Y, V>;
};
struct waxpby_nrm2_call : sum_call<waxpby_nrm2_call, void, grade, fused_arguments> {
  template <class S, class X, class T, class Y, class W>
  static consteval wrong of() {
    return elementwise_call<elementwise::waxpby>::template of<S, X, T, Y, W>();
  }
  template <class S, class X, class T, class Y, class W>
  using sum = waxpby_nrm2_sum<W>;
};

template <class S, class X, class Y, class V>
auto axpy_dot_of(const executor& where, const S& alpha, const X& x, Y& y, const V& v,
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
auto waxpby_nrm2_of(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
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
  requires detail::taken<detail::axpy_dot_call, S, X, Y, V>
auto axpy_dot(const executor& where, const S& alpha, const X& x, Y&& y, const V& v,
              dot_options how = {}) {
  return detail::returned_sum<detail::axpy_dot_sum<Y, V>, void>(
      how.grade, detail::axpy_dot_of(where, alpha, x, y, v, how.conjugated));
}

/// Into a result, not exact sums. Doesn't block.
template <class S, class X, class Y, class V, class R>
  requires detail::written<detail::axpy_dot_call, S, X, Y, V, R>
void axpy_dot(const executor& where, const S& alpha, const X& x, Y&& y, const V& v, R&& result,
              dot_options how = {}) {
  detail::written_sums<detail::axpy_dot_sum<Y, V>>(
      "tally::axpy_dot", 1, result, how.grade,
      detail::axpy_dot_of(where, alpha, x, y, v, how.conjugated));
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::axpy_dot_call, T...>
auto axpy_dot(T&&... arguments) {
  return axpy_dot(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::axpy_dot_call, T...>>
  requires detail::refused<why, T...>
void axpy_dot(T&&...) = delete;  // [where,] alpha, x, y, v[, options]; where, ..., v, result

/// w_i = alpha*x_i + beta*y_i; returns sqrt(sum_i |w_i|^2). Blocks.
///
/// @param w      n elements, written; may be x or y.
/// @param g      `tally::exact` for the correctly rounded norm.
template <class S, class X, class T, class Y, class W>
  requires detail::taken<detail::waxpby_nrm2_call, S, X, T, Y, W>
auto waxpby_nrm2(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
                 W&& w, grade g = {}) {
  return detail::returned_sum<detail::waxpby_nrm2_sum<W>, void>(
      g, detail::waxpby_nrm2_of(where, alpha, x, beta, y, w));
}

/// Into a result, not exact sums. Doesn't block.
template <class S, class X, class T, class Y, class W, class R>
  requires detail::written<detail::waxpby_nrm2_call, S, X, T, Y, W, R>
void waxpby_nrm2(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
                 W&& w, R&& result, grade g = {}) {
  detail::written_sums<detail::waxpby_nrm2_sum<W>>(
      "tally::waxpby_nrm2", 1, result, g, detail::waxpby_nrm2_of(where, alpha, x, beta, y, w));
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::waxpby_nrm2_call, T...>
auto waxpby_nrm2(T&&... arguments) {
  return waxpby_nrm2(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::waxpby_nrm2_call, T...>>
  requires detail::refused<why, T...>
void waxpby_nrm2(T&&...) = delete;  // [where,] alpha, x, beta, y, w[, grade]; where, ..., w, result

}  // namespace tally
