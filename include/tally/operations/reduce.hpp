// Reductions of one vector, i = 0 ... n-1: sum x_i, asum |x_i|, nrm2 (root of sum |x_i|^2),
// sum_of_squares, max_norm; and norms with weights w: weighted_nrm2, wrms_norm.
//
// Promise: as <tally/operations/dot.hpp>. nrm2 neither overflows nor underflows on the way:
// elements are then scaled by a power of two. Details: docs/numerics.md.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/detail/sums.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <optional>
#include <type_traits>

namespace tally {

/// sum x_i; sum |x_i| (BLAS `asum`); sqrt(sum |x_i|^2) (BLAS `nrm2`); of real numbers sum x_i^2 and
/// the largest |x_i|.
enum class reduction : std::uint8_t { sum, asum, nrm2, sum_of_squares, max_norm };

/// Arguments with types erased, checked at run time. `result.element` is `sum_result_t`,
/// `asum_result_t` (also of the last two), `nrm2_result_t` or the widest; `result.words` as for
/// `dot` (nrm2: the sum of squares), not for max_norm.
struct reduce_arguments {
  operand x;                        ///< the vector
  reduction what = reduction::sum;  ///< the reduction
  output result;                    ///< destination and type
  call_options options = {};        ///< grade; whether to wait
};

/// The reductions with types erased.
/// @throws error as `sum`.
TALLY_EXPORT void reduce(const executor& where, const reduce_arguments& arguments);

/// What `automatic()` runs on.
TALLY_EXPORT executor choose(const operand& x);

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

/// Accumulator and result of a sum: `double` for `double`, `float` for other floating-point types,
/// `int64_t` for integers and `bool`; complex for complex.
template <element X>
using sum_result_t = dot_result_t<X, X>;

/// Accumulator and result of `asum`: real.
template <element X>
using asum_result_t = real_t<sum_result_t<X>>;

/// Result of `nrm2`, real: `double` for integers and `bool`, otherwise as `asum`.
template <element X>
using nrm2_result_t =
    std::conditional_t<std::is_integral_v<asum_result_t<X>>, double, asum_result_t<X>>;

/// Result of norms with weights: `dot_result_t`, but `double` for integers. Real.
template <element X, element W>
using weighted_result_t =
    std::conditional_t<std::is_integral_v<dot_result_t<X, W>>, double, dot_result_t<X, W>>;

namespace detail {

template <reduction what, element X>
using reduction_rule_t = std::conditional_t<
    what == reduction::sum, sum_result_t<X>,
    std::conditional_t<what == reduction::asum, asum_result_t<X>, nrm2_result_t<X>>>;

template <reduction what, element X>
using reduction_widest_t = std::conditional_t<what == reduction::sum, dot_widest_t<X, X>, double>;

template <reduction what, class X>
using reduction_sum =
    sum_types<reduction_rule_t<what, element_t<X>>, reduction_widest_t<what, element_t<X>>,
              std::same_as<real_t<element_t<X>>, double>>;

/// Accumulator of a reduction, on request R.
template <reduction what, class R, class X>
using reduction_result_t = sum_t<reduction_sum<what, X>, R>;

template <reduction what, class R, class X>
concept has_reduction = vector_operand<X> && summable<reduction_sum<what, X>, R>;

/// Whether a reduction is of such elements.
template <reduction what, class X>
constexpr bool is_reducible() {
  if constexpr (is_vector<X>()) {
    constexpr bool valid = what <= reduction::nrm2 || !is_complex_v<element_t<X>>;
    static_assert(valid,
                  "sum_of_squares and max_norm are of numbers that are not complex; dot(x, x, "
                  "tally::conjugate::x) is the sum of complex ones");
    return valid;
  } else {
    return false;
  }
}

template <reduction what, class R, class X>
auto returned_reduction(const executor& where, const X& x, grade g) {
  if constexpr (is_reducible<what, X>()) {
    using T = reduction_result_t<what, R, X>;
    return returned_sum<reduction_sum<what, X>, R>(
        g, [&](const output& to, const call_options& options) {
          const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px) {
            *static_cast<T*>(to.data) = kernels.reduce[static_cast<std::size_t>(what)](px, n);
            return true;
          };
          if constexpr (what <= reduction::nrm2) {
            if (!g.is_exact() && with_level_one<T>(where, short_way, x)) return;
          }
          reduce(where, {as_operand(x), what, to, options});
        });
  } else {
    return 0.0;
  }
}
template <reduction what, class X, class P>
auto written_reduction(const char* function, const executor& where, const X& x, P& result,
                       grade g) {
  if constexpr (is_reducible<what, X>()) {
    written_sums<reduction_sum<what, X>>(function, 1, result, g,
                                         [&](const output& to, const call_options& options) {
                                           reduce(where, {as_operand(x), what, to, options});
                                         });
  }
}

template <class X, class W>
using weighted_sum = sum_types<weighted_result_t<element_t<X>, element_t<W>>, double,
                               std::same_as<weighted_result_t<element_t<X>, element_t<W>>, double>>;

/// Whether all are real vectors.
template <class... V>
constexpr bool are_weighted() {
  if constexpr ((is_vector<V>() && ...)) {
    constexpr bool valid = !(is_complex_v<element_t<V>> || ...);
    static_assert(valid, "norms with weights are of numbers that are not complex");
    return valid;
  } else {
    return false;
  }
}

/// `mask` may be absent.
template <weighted_norm what, class R, class X, class W, class... M>
auto returned_weighted(const executor& where, grade g, const X& x, const W& w, const M&... mask) {
  if constexpr (are_weighted<X, W, M...>()) {
    return returned_sum<weighted_sum<X, W>, R>(
        g, [&](const output& to, const call_options& options) {
          reduce_weighted(where,
                          {as_operand(x), as_operand(w), {as_operand(mask)...}, what, to, options});
        });
  } else {
    return 0.0;
  }
}
template <weighted_norm what, class P, class X, class W, class... M>
auto written_weighted(const char* function, const executor& where, P& result, grade g, const X& x,
                      const W& w, const M&... mask) {
  if constexpr (are_weighted<X, W, M...>()) {
    written_sums<weighted_sum<X, W>>(
        function, 1, result, g, [&](const output& to, const call_options& options) {
          reduce_weighted(where,
                          {as_operand(x), as_operand(w), {as_operand(mask)...}, what, to, options});
        });
  }
}

}  // namespace detail

/// r = sum_i x_i. Blocks; errors as for `dot`.
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param g      `tally::exact` for the correctly rounded value.
/// @tparam R     accumulator and result: `sum_result_t`, or on request `double`
///               (`complex<double>`): `tally::sum<double>(x)`.
template <class R = void, class X>
auto sum(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::sum, R>(where, x, g);
}

/// result = sum_i x_i, or added to exact sums or limbs, as the same form of `dot`.
template <class X, class P>
  requires(!std::convertible_to<P, grade>)
auto sum(const executor& where, const X& x, P&& result, grade g = {}) {
  return detail::written_reduction<reduction::sum>("tally::sum", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<1, grade, T...>>
  requires(!detail::on_executor<1, 3, T...>)
auto sum(const T&... arguments) {
  static_assert(valid,
                "sum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result comes after the operand, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return sum<R>(where, arguments...); });
}

/// r = sum_i |x_i|, for complex |re x_i| + |im x_i| (BLAS `asum`). R is `asum_result_t`, or
/// `double` on request.
template <class R = void, class X>
auto asum(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::asum, R>(where, x, g);
}

/// result = sum_i |x_i|, likewise.
template <class X, class P>
  requires(!std::convertible_to<P, grade>)
auto asum(const executor& where, const X& x, P&& result, grade g = {}) {
  return detail::written_reduction<reduction::asum>("tally::asum", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<1, grade, T...>>
  requires(!detail::on_executor<1, 3, T...>)
auto asum(const T&... arguments) {
  static_assert(valid,
                "asum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result comes after the operand, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return asum<R>(where, arguments...); });
}

/// r = sqrt(sum_i |x_i|^2) (BLAS `nrm2`), the root correctly rounded. Infinite only if an element
/// is or the norm is out of range, 0 only if all elements are. R is `nrm2_result_t`, or `double` on
/// request.
template <class R = void, class X>
auto nrm2(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::nrm2, R>(where, x, g);
}

/// result = sqrt(sum_i |x_i|^2), likewise; sum_i |x_i|^2 is added to exact sums (`round_root` takes
/// the root) or limbs.
template <class X, class P>
  requires(!std::convertible_to<P, grade>)
auto nrm2(const executor& where, const X& x, P&& result, grade g = {}) {
  return detail::written_reduction<reduction::nrm2>("tally::nrm2", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<1, grade, T...>>
  requires(!detail::on_executor<1, 3, T...>)
auto nrm2(const T&... arguments) {
  static_assert(valid,
                "nrm2 takes an executor or none, an operand, then tally::exact or nothing; a "
                "result comes after the operand, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return nrm2<R>(where, arguments...); });
}

/// r = sum_i x_i^2 of real numbers, the bits of `dot(x, x)`.
template <class R = void, class X>
auto sum_of_squares(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::sum_of_squares, R>(where, x, g);
}

/// result = sum_i x_i^2, likewise; or added to exact sums or limbs.
template <class X, class P>
  requires(!std::convertible_to<P, grade>)
auto sum_of_squares(const executor& where, const X& x, P&& result, grade g = {}) {
  return detail::written_reduction<reduction::sum_of_squares>("tally::sum_of_squares", where, x,
                                                              result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<1, grade, T...>>
  requires(!detail::on_executor<1, 3, T...>)
auto sum_of_squares(const T&... arguments) {
  static_assert(
      valid,
      "sum_of_squares takes an executor or none, an operand, then tally::exact or nothing; a "
      "result comes after the operand, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return sum_of_squares<R>(where, arguments...); });
}

/// r = the largest |x_i| of real numbers; 0 if there is none, NaN if one is NaN. The grade does not
/// matter. R is `asum_result_t`, or `double` on request.
template <class R = void, class X>
auto max_norm(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::max_norm, R>(where, x, g);
}

/// result = the largest |x_i|. Waits on a device.
template <class X, class P>
  requires(!std::convertible_to<P, grade>)
auto max_norm(const executor& where, const X& x, P&& result, grade g = {}) {
  return detail::written_reduction<reduction::max_norm>("tally::max_norm", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<1, grade, T...>>
  requires(!detail::on_executor<1, 3, T...>)
auto max_norm(const T&... arguments) {
  static_assert(valid,
                "max_norm takes an executor or none, an operand, then tally::exact or nothing; a "
                "result comes after the operand, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return max_norm<R>(where, arguments...); });
}

/// r = sum_i (x_i*w_i)^2, x_i*w_i rounded. Nothing is scaled: squares may overflow or underflow.
/// Blocks; errors as for `dot`.
///
/// @param x, w   n elements each, of any two real element types.
/// @param g      `tally::exact`: the sum of these squares is not rounded before the result.
/// @tparam R     accumulator and result: `weighted_result_t`, or `double` on request.
template <class R = void, class X, class W>
auto weighted_sum_of_squares(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::squares, R>(where, g, x, w);
}

/// result = the same, or added to exact sums or limbs, as the same form of `dot`.
template <class X, class W, class P>
  requires(!std::convertible_to<P, grade>)
auto weighted_sum_of_squares(const executor& where, const X& x, const W& w, P&& result,
                             grade g = {}) {
  return detail::written_weighted<weighted_norm::squares>("tally::weighted_sum_of_squares", where,
                                                          result, g, x, w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<2, grade, T...>>
  requires(!detail::on_executor<2, 4, T...>)
auto weighted_sum_of_squares(const T&... arguments) {
  static_assert(valid,
                "weighted_sum_of_squares takes an executor or none, two operands, then "
                "tally::exact or nothing; a "
                "result comes after the operands, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return weighted_sum_of_squares<R>(where, arguments...); });
}

/// r = sqrt(sum_i (x_i*w_i)^2), of `weighted_sum_of_squares` (SUNDIALS's WL2 norm).
template <class R = void, class X, class W>
auto weighted_nrm2(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root, R>(where, g, x, w);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class P>
  requires(!std::convertible_to<P, grade>)
auto weighted_nrm2(const executor& where, const X& x, const W& w, P&& result, grade g = {}) {
  return detail::written_weighted<weighted_norm::root>("tally::weighted_nrm2", where, result, g, x,
                                                       w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<2, grade, T...>>
  requires(!detail::on_executor<2, 4, T...>)
auto weighted_nrm2(const T&... arguments) {
  static_assert(
      valid,
      "weighted_nrm2 takes an executor or none, two operands, then tally::exact or nothing; a "
      "result comes after the operands, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return weighted_nrm2<R>(where, arguments...); });
}

/// r = sqrt(sum_i (x_i*w_i)^2 / n), of `weighted_sum_of_squares` (SUNDIALS's WRMS norm); 0 for
/// n = 0.
template <class R = void, class X, class W>
auto wrms_norm(const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root_mean, R>(where, g, x, w);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class P>
  requires(!std::convertible_to<P, grade>)
auto wrms_norm(const executor& where, const X& x, const W& w, P&& result, grade g = {}) {
  return detail::written_weighted<weighted_norm::root_mean>("tally::wrms_norm", where, result, g, x,
                                                            w);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<2, grade, T...>>
  requires(!detail::on_executor<2, 4, T...>)
auto wrms_norm(const T&... arguments) {
  static_assert(
      valid,
      "wrms_norm takes an executor or none, two operands, then tally::exact or nothing; a "
      "result comes after the operands, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return wrms_norm<R>(where, arguments...); });
}

/// The same with the terms of positive m_i alone, divided by all n.
/// @param m      n elements of any real element type.
template <class R = void, class X, class W, class M>
auto wrms_norm_mask(const executor& where, const X& x, const W& w, const M& m, grade g = {}) {
  return detail::returned_weighted<weighted_norm::root_mean, R>(where, g, x, w, m);
}

/// result = the same, likewise; exact sums take the squares.
template <class X, class W, class M, class P>
  requires(!std::convertible_to<P, grade>)
auto wrms_norm_mask(const executor& where, const X& x, const W& w, const M& m, P&& result,
                    grade g = {}) {
  return detail::written_weighted<weighted_norm::root_mean>("tally::wrms_norm_mask", where, result,
                                                            g, x, w, m);
}

/// The returned form on `automatic()`.
template <class R = void, class... T, bool valid = detail::is_call<3, grade, T...>>
  requires(!detail::on_executor<3, 5, T...>)
auto wrms_norm_mask(const T&... arguments) {
  static_assert(
      valid,
      "wrms_norm_mask takes an executor or none, three operands, then tally::exact or nothing; a "
      "result comes after the operands, and only where an executor comes first");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return wrms_norm_mask<R>(where, arguments...); });
}

}  // namespace tally
