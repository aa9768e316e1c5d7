// Reductions of one vector, i = 0 ... n-1: sum x_i, asum |x_i|, nrm2 (root of sum |x_i|^2).
//
// Promise: as <tally/dot.hpp>. nrm2 neither overflows nor underflows on the way: elements are then
// scaled by a power of two. Details: docs/numerics.md.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/detail/refusal.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <type_traits>

namespace tally {

/// sum x_i; sum |x_i| (BLAS `asum`); sqrt(sum |x_i|^2) (BLAS `nrm2`).
enum class reduction : std::uint8_t { sum, asum, nrm2 };

/// Arguments with types erased, checked at run time. `result.element` is `sum_result_t`,
/// `asum_result_t`, `nrm2_result_t` or the widest; `result.words` as for `dot` (nrm2: the sum of
/// squares).
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

namespace reductions {

template <reduction what, element X>
using rule_t = std::conditional_t<
    what == reduction::sum, sum_result_t<X>,
    std::conditional_t<what == reduction::asum, asum_result_t<X>, nrm2_result_t<X>>>;

template <reduction what, element X>
using widest_t = std::conditional_t<what == reduction::sum, dot_widest_t<X, X>, double>;

template <reduction what, class R, class X>
using result_t = std::conditional_t<std::is_void_v<R>, rule_t<what, element_t<X>>, R>;

template <reduction what, class R, class X>
concept computable =
    vector_operand<X> && (std::same_as<result_t<what, R, X>, rule_t<what, element_t<X>>> ||
                          std::same_as<result_t<what, R, X>, widest_t<what, element_t<X>>>);

template <reduction what, class R, class X>
result_t<what, R, X> returned(const executor& where, const X& x, grade g) {
  result_t<what, R, X> r;
  const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px) {
    r = kernels.reduce[static_cast<std::size_t>(what)](px, n);
    return true;
  };
  if (!g.is_exact() && detail::with_level_one<decltype(r)>(where, short_way, x)) return r;
  reduce(where, reduce_arguments{as_operand(x), what, {&r, type_of<decltype(r)>}, {g, true}});
  return r;
}
template <reduction what, class X, class P>
void written(const char* function, const executor& where, const X& x, P& result, grade g) {
  auto* const r = results::first(function, result);
  reduce(where,
         reduce_arguments{as_operand(x), what, {r, type_of<results::element_t<P>>}, {g, false}});
}

template <reduction what, class X>
inline constexpr bool parted = what == reduction::sum && is_complex_v<element_t<X>>;

template <reduction what, class T, class X>
void added(const executor& where, const X& x, std::int64_t* words, bool wait) {
  constexpr type sum = exact_sums::type_of_sum<T>(parted<what, X>);
  reduce(where, reduce_arguments{as_operand(x), what, {words, sum, true}, {exact, wait}});
}
template <reduction what, class T, class X>
void merged(const char* function, const executor& where, const X& x, const added_sums<T>& sums) {
  exact_sums::merge_into(function, sums, parted<what, X> ? 2 : 1,
                         [&](std::int64_t* words) { added<what, T>(where, x, words, true); });
}

}  // namespace reductions

/// r = sum_i x_i. Blocks; errors as for `dot`.
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param g      `tally::exact` for the correctly rounded value.
/// @tparam R     accumulator and result: `sum_result_t`, or on request `double`
///               (`complex<double>`): `tally::sum<double>(x)`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
reductions::result_t<reduction::sum, R, X> sum(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::sum, R>(where, x, g);
}

/// The same on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
reductions::result_t<reduction::sum, R, X> sum(const X& x, grade g = {}) {
  return reductions::returned<reduction::sum, R>(automatic(), x, g);
}

/// result = sum_i x_i, as the same form of `dot`. Doesn't block.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::sum, results::element_t<R>, X>
void sum(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::sum>("tally::sum", where, x, result, g);
}

/// r = sum_i |x_i|, for complex |re x_i| + |im x_i| (BLAS `asum`). R is `asum_result_t`, or
/// `double` on request.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
reductions::result_t<reduction::asum, R, X> asum(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::asum, R>(where, x, g);
}

/// The same on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
reductions::result_t<reduction::asum, R, X> asum(const X& x, grade g = {}) {
  return reductions::returned<reduction::asum, R>(automatic(), x, g);
}

/// result = sum_i |x_i|. Doesn't block.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::asum, results::element_t<R>, X>
void asum(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::asum>("tally::asum", where, x, result, g);
}

/// r = sqrt(sum_i |x_i|^2) (BLAS `nrm2`), the root correctly rounded. Infinite only if an element
/// is or the norm is out of range, 0 only if all elements are. R is `nrm2_result_t`, or `double` on
/// request.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
reductions::result_t<reduction::nrm2, R, X> nrm2(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::nrm2, R>(where, x, g);
}

/// The same on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
reductions::result_t<reduction::nrm2, R, X> nrm2(const X& x, grade g = {}) {
  return reductions::returned<reduction::nrm2, R>(automatic(), x, g);
}

/// result = sqrt(sum_i |x_i|^2). Doesn't block.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::nrm2, results::element_t<R>, X>
void nrm2(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::nrm2>("tally::nrm2", where, x, result, g);
}

// --- Unrounded sums ------------------------------------------------------------------------------

/// Adds sum_i x_i to an exact sum, complex ones to two: `tally::sum(where, x, tally::add_to(sum))`.
/// Blocks. On failure the sums are unchanged.
/// @throws error as `sum`, and size_mismatch for a wrong number of sums.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void sum(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::sum>("tally::sum", where, x, sums);
}

/// Adds to limbs. Doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void sum(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::sum, T>(where, x, words.words, false);
}

/// Adds sum_i |x_i| to an exact sum.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void asum(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::asum>("tally::asum", where, x, sums);
}

/// Adds to limbs. Doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void asum(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::asum, T>(where, x, words.words, false);
}

/// Adds sum_i |x_i|^2 to an exact sum; `round_root` takes the root.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void nrm2(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::nrm2>("tally::nrm2", where, x, sums);
}

/// Adds to limbs. Doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void nrm2(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::nrm2, T>(where, x, words.words, false);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace reductions {

using vector = refusals::arguments<refusals::vector>;

}  // namespace reductions

template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto sum(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

template <class... T>
auto sum(...) {
  static_assert(refusals::never<T...>,
                "sum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; sum<R> has an R no narrower than the type of its own");
  return 0.0;
}

template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto asum(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

template <class... T>
auto asum(...) {
  static_assert(refusals::never<T...>,
                "asum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; asum<R> has an R no narrower than the type of its own");
  return 0.0;
}

template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto nrm2(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

template <class... T>
auto nrm2(...) {
  static_assert(refusals::never<T...>,
                "nrm2 takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; nrm2<R> has an R no narrower than the type of its own");
  return 0.0;
}

// @endcond
}  // namespace tally
