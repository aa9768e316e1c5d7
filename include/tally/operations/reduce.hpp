// Reductions of one vector, i = 0 ... n-1: sum x_i, asum |x_i|, nrm2 (root of sum |x_i|^2),
// sum_of_squares, max_norm.
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

namespace detail {

template <reduction what, element X>
using reduction_rule_t = std::conditional_t<
    what == reduction::sum, sum_result_t<X>,
    std::conditional_t<what == reduction::nrm2, nrm2_result_t<X>, asum_result_t<X>>>;

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

template <reduction what, class R = void>
struct reduction_call : sum_call<reduction_call<what, R>, R, grade> {
  template <class X>
  static consteval wrong of() {
    return what <= reduction::nrm2 ? wrong_vector<X> : wrong_real_vector<X>;
  }
  template <class X>
  using sum = reduction_sum<what, X>;
};

template <reduction what, class R, class X>
auto returned_reduction(const executor& where, const X& x, grade g) {
  using T = reduction_result_t<what, R, X>;
  return returned_sum<reduction_sum<what, X>, R>(
      g, [&](const output& to, const call_options& options) {
        const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px) {
          *static_cast<T*>(to.data) = kernels.reduce[static_cast<std::size_t>(what)](px, n);
          return true;
        };
        if (!g.is_exact() && with_level_one<T>(where, short_way, x)) return;
        reduce(where, {as_operand(x), what, to, options});
      });
}
template <reduction what, class X, class P>
void written_reduction(const char* function, const executor& where, const X& x, P& result,
                       grade g) {
  written_sums<reduction_sum<what, X>>(function, 1, result, g,
                                       [&](const output& to, const call_options& options) {
                                         reduce(where, {as_operand(x), what, to, options});
                                       });
}

}  // namespace detail

/// r = sum_i x_i. Blocks; errors as for `dot`.
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param g      `tally::exact` for the correctly rounded value.
/// @tparam R     accumulator and result: `sum_result_t`, or on request `double`
///               (`complex<double>`): `tally::sum<double>(x)`.
template <class R = void, class X>
  requires detail::taken<detail::reduction_call<reduction::sum, R>, X>
auto sum(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::sum, R>(where, x, g);
}

/// result = sum_i x_i, or added to exact sums or limbs, as the same form of `dot`.
template <class X, class P>
  requires detail::written<detail::reduction_call<reduction::sum>, X, P>
void sum(const executor& where, const X& x, P&& result, grade g = {}) {
  detail::written_reduction<reduction::sum>("tally::sum", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::reduction_call<reduction::sum, R>, T...>
auto sum(T&&... arguments) {
  return sum<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::reduction_call<reduction::sum, R>, T...>>
  requires detail::refused<why, T...>
void sum(T&&...) = delete;  // [where,] x[, grade]; where, x, result[, grade]

/// r = sum_i |x_i|, for complex |re x_i| + |im x_i| (BLAS `asum`). R is `asum_result_t`, or
/// `double` on request.
template <class R = void, class X>
  requires detail::taken<detail::reduction_call<reduction::asum, R>, X>
auto asum(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::asum, R>(where, x, g);
}

/// result = sum_i |x_i|, likewise.
template <class X, class P>
  requires detail::written<detail::reduction_call<reduction::asum>, X, P>
void asum(const executor& where, const X& x, P&& result, grade g = {}) {
  detail::written_reduction<reduction::asum>("tally::asum", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::reduction_call<reduction::asum, R>, T...>
auto asum(T&&... arguments) {
  return asum<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::reduction_call<reduction::asum, R>, T...>>
  requires detail::refused<why, T...>
void asum(T&&...) = delete;  // [where,] x[, grade]; where, x, result[, grade]

/// r = sqrt(sum_i |x_i|^2) (BLAS `nrm2`), the root correctly rounded. Infinite only if an element
/// is or the norm is out of range, 0 only if all elements are. R is `nrm2_result_t`, or `double` on
/// request.
template <class R = void, class X>
  requires detail::taken<detail::reduction_call<reduction::nrm2, R>, X>
auto nrm2(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::nrm2, R>(where, x, g);
}

/// result = sqrt(sum_i |x_i|^2), likewise; sum_i |x_i|^2 is added to exact sums (`round_root` takes
/// the root) or limbs.
template <class X, class P>
  requires detail::written<detail::reduction_call<reduction::nrm2>, X, P>
void nrm2(const executor& where, const X& x, P&& result, grade g = {}) {
  detail::written_reduction<reduction::nrm2>("tally::nrm2", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::reduction_call<reduction::nrm2, R>, T...>
auto nrm2(T&&... arguments) {
  return nrm2<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::reduction_call<reduction::nrm2, R>, T...>>
  requires detail::refused<why, T...>
void nrm2(T&&...) = delete;  // [where,] x[, grade]; where, x, result[, grade]

/// r = sum_i x_i^2 of real numbers, the bits of `dot(x, x)`.
template <class R = void, class X>
  requires detail::taken<detail::reduction_call<reduction::sum_of_squares, R>, X>
auto sum_of_squares(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::sum_of_squares, R>(where, x, g);
}

/// result = sum_i x_i^2, likewise; or added to exact sums or limbs.
template <class X, class P>
  requires detail::written<detail::reduction_call<reduction::sum_of_squares>, X, P>
void sum_of_squares(const executor& where, const X& x, P&& result, grade g = {}) {
  detail::written_reduction<reduction::sum_of_squares>("tally::sum_of_squares", where, x, result,
                                                       g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::reduction_call<reduction::sum_of_squares, R>, T...>
auto sum_of_squares(T&&... arguments) {
  return sum_of_squares<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why =
              detail::wrong_call<detail::reduction_call<reduction::sum_of_squares, R>, T...>>
  requires detail::refused<why, T...>
void sum_of_squares(T&&...) = delete;  // [where,] x[, grade]; where, x, result[, grade]

/// r = the largest |x_i| of real numbers; 0 if there is none, NaN if one is NaN. The grade does not
/// matter. R is `asum_result_t`, or `double` on request.
template <class R = void, class X>
  requires detail::taken<detail::reduction_call<reduction::max_norm, R>, X>
auto max_norm(const executor& where, const X& x, grade g = {}) {
  return detail::returned_reduction<reduction::max_norm, R>(where, x, g);
}

/// result = the largest |x_i|. Waits on a device.
template <class X, class P>
  requires detail::written<detail::reduction_call<reduction::max_norm>, X, P>
void max_norm(const executor& where, const X& x, P&& result, grade g = {}) {
  detail::written_reduction<reduction::max_norm>("tally::max_norm", where, x, result, g);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::reduction_call<reduction::max_norm, R>, T...>
auto max_norm(T&&... arguments) {
  return max_norm<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <
    class R = void, class... T,
    detail::wrong why = detail::wrong_call<detail::reduction_call<reduction::max_norm, R>, T...>>
  requires detail::refused<why, T...>
void max_norm(T&&...) = delete;  // [where,] x[, grade]; where, x, result[, grade]

}  // namespace tally
