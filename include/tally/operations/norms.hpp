// Norms with weights w of a vector x, i = 0 ... n-1: weighted_sum_of_squares sum (x_i w_i)^2,
// weighted_nrm2 its root, wrms_norm sqrt(sum / n), wrms_norm_mask.
//
// Promise: as <tally/operations/dot.hpp>. Details: docs/numerics.md.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/detail/sums.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tally {

/// Results of s = sum (x_i*w_i)^2: s, its root, and sqrt(s / n).
enum class weighted_norm : std::uint8_t { squares, root, root_mean };

/// Arguments with types erased, checked at run time: real vectors of n elements. `result.element`,
/// also the accumulator, is `weighted_result_t` or float64; with `result.words` the type of the
/// exact sum s, as wide.
struct weighted_norm_arguments {
  operand x;                                    ///< the vector
  operand w;                                    ///< the weights
  std::optional<operand> mask = {};             ///< if any: terms of its positive elements alone
  weighted_norm what = weighted_norm::squares;  ///< the result
  output result;                                ///< destination and type
  call_options options = {};                    ///< grade; whether to wait
};

/// The weighted norms with types erased.
/// @throws error as `wrms_norm`.
TALLY_EXPORT void reduce_weighted(const executor& where, const weighted_norm_arguments& arguments);

/// Replaces a sum of n weighted squares, float32 or float64 in host memory, by its norm.
TALLY_EXPORT void finish_weighted_norm(weighted_norm what, std::int64_t n, const output& sum);

/// Result of norms with weights: `dot_result_t`, but `double` for integers. Real.
template <element X, element W>
using weighted_result_t =
    std::conditional_t<std::is_integral_v<dot_result_t<X, W>>, double, dot_result_t<X, W>>;

namespace detail {

template <class X, class W>
using weighted_sum = sum_types<weighted_result_t<element_t<X>, element_t<W>>, double,
                               std::same_as<weighted_result_t<element_t<X>, element_t<W>>, double>>;

template <class R = void>
struct weighted_call : sum_call<weighted_call<R>, R, grade> {
  template <class X, class W>
  static consteval wrong of() {
    return first_wrong<wrong_real_vector<X>, wrong_real_vector<W>>;
  }
  template <class X, class W>
  using sum = weighted_sum<X, W>;
};
template <class R = void>
struct masked_call : sum_call<masked_call<R>, R, grade> {
  template <class X, class W, class M>
  static consteval wrong of() {
    return first_wrong<wrong_real_vector<X>, wrong_real_vector<W>, wrong_real_vector<M>>;
  }
  template <class X, class W, class M>
  using sum = weighted_sum<X, W>;
};

/// `mask` may be absent.
template <weighted_norm what, class R, class X, class W, class... M>
auto returned_weighted(const executor& where, grade g, const X& x, const W& w, const M&... mask) {
  return returned_sum<weighted_sum<X, W>, R>(g, [&](const output& to, const call_options& options) {
    reduce_weighted(where,
                    {as_operand(x), as_operand(w), {as_operand(mask)...}, what, to, options});
  });
}
template <weighted_norm what, class P, class X, class W, class... M>
void written_weighted(const char* function, const executor& where, P& result, grade g, const X& x,
                      const W& w, const M&... mask) {
  written_sums<weighted_sum<X, W>>(
      function, 1, result, g, [&](const output& to, const call_options& options) {
        reduce_weighted(where,
                        {as_operand(x), as_operand(w), {as_operand(mask)...}, what, to, options});
      });
}

}  // namespace detail

/// r = sum_i (x_i*w_i)^2, x_i*w_i rounded. Nothing is scaled: squares may overflow or underflow.
/// Blocks; errors as for `dot`.
///
/// @param x, w   n elements each, of any two real element types.
/// @param g      `tally::exact`: the sum of these squares is not rounded before the result.
/// @tparam R     accumulator and result: `weighted_result_t`, or `double` on request.
template <class R = void, class X, class W>
  requires detail::taken<detail::weighted_call<R>, X, W>
auto weighted_sum_of_squares(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::squares, R>(where, g, x, w);
}

/// result = the same, or added to exact sums or limbs, as the same form of `dot`.
template <class X, class W, class P>
  requires detail::written<detail::weighted_call<>, X, W, P>
void weighted_sum_of_squares(const executor& where, const X& x, const W& w, P&& result,
                             grade g = {}) {
  detail::written_weighted<weighted_norm::squares>("tally::weighted_sum_of_squares", where, result,
                                                   g, x, w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::weighted_call<R>, T...>
auto weighted_sum_of_squares(T&&... arguments) {
  return weighted_sum_of_squares<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::weighted_call<R>, T...>>
  requires detail::refused<why, T...>
void weighted_sum_of_squares(T&&...) = delete;  // [where,] x, w[, grade]; where, x, w, result

/// r = sqrt(sum_i (x_i*w_i)^2), of `weighted_sum_of_squares` (SUNDIALS's WL2 norm).
template <class R = void, class X, class W>
  requires detail::taken<detail::weighted_call<R>, X, W>
auto weighted_nrm2(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root, R>(where, g, x, w);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class P>
  requires detail::written<detail::weighted_call<>, X, W, P>
void weighted_nrm2(const executor& where, const X& x, const W& w, P&& result, grade g = {}) {
  detail::written_weighted<weighted_norm::root>("tally::weighted_nrm2", where, result, g, x, w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::weighted_call<R>, T...>
auto weighted_nrm2(T&&... arguments) {
  return weighted_nrm2<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::weighted_call<R>, T...>>
  requires detail::refused<why, T...>
void weighted_nrm2(T&&...) = delete;  // [where,] x, w[, grade]; where, x, w, result[, grade]

/// r = sqrt(sum_i (x_i*w_i)^2 / n), of `weighted_sum_of_squares` (SUNDIALS's WRMS norm); 0 for
/// n = 0.
template <class R = void, class X, class W>
  requires detail::taken<detail::weighted_call<R>, X, W>
auto wrms_norm(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root_mean, R>(where, g, x, w);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class P>
  requires detail::written<detail::weighted_call<>, X, W, P>
void wrms_norm(const executor& where, const X& x, const W& w, P&& result, grade g = {}) {
  detail::written_weighted<weighted_norm::root_mean>("tally::wrms_norm", where, result, g, x, w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::weighted_call<R>, T...>
auto wrms_norm(T&&... arguments) {
  return wrms_norm<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::weighted_call<R>, T...>>
  requires detail::refused<why, T...>
void wrms_norm(T&&...) = delete;  // [where,] x, w[, grade]; where, x, w, result[, grade]

/// The same with the terms of positive m_i alone, divided by all n.
/// @param m      n elements of any real element type.
template <class R = void, class X, class W, class M>
  requires detail::taken<detail::masked_call<R>, X, W, M>
auto wrms_norm_mask(const executor& where, const X& x, const W& w, const M& m, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root_mean, R>(where, g, x, w, m);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class M, class P>
  requires detail::written<detail::masked_call<>, X, W, M, P>
void wrms_norm_mask(const executor& where, const X& x, const W& w, const M& m, P&& result,
                    grade g = {}) {
  detail::written_weighted<weighted_norm::root_mean>("tally::wrms_norm_mask", where, result, g, x,
                                                     w, m);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::masked_call<R>, T...>
auto wrms_norm_mask(T&&... arguments) {
  return wrms_norm_mask<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::masked_call<R>, T...>>
  requires detail::refused<why, T...>
void wrms_norm_mask(T&&...) = delete;  // [where,] x, w, m[, grade]; where, x, w, m, result[, grade]

}  // namespace tally
