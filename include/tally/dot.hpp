// Dot products: r = sum of x_i*y_i, i = 0 ... n-1, and the conjugated form.
//
// Promise: the bits depend on the values, their order and the accumulator's type only
// (<tally/order.hpp>). Integers are exact modulo 2^64. Otherwise the error is at most (min(chunk,
// n)/lanes + ceil(log2 n) + 1)*eps*sum |x_i*y_i|, to first order in eps, plus half the least
// subnormal per underflowing product, unless a sum overflows. A NaN is the positive quiet one with
// an empty payload; any zero is +0.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/detail/refusal.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <type_traits>

namespace tally {

/// The vector that enters conjugated.
enum class conjugate : std::uint8_t { none, x, y };

/// Arguments with types erased, checked at run time. `result.element` is the accumulator:
/// `dot_result_t` or `dot_widest_t`; with `result.words` (exact grade) the sum's type: float64, or
/// float32 without doubles, or complex64, complex128.
struct dot_arguments {
  operand x;                               ///< the first vector
  operand y;                               ///< the second, of the same size
  conjugate conjugated = conjugate::none;  ///< the conjugated one
  output result;                           ///< destination and type
  call_options options = {};               ///< grade; whether to wait
};

/// The dot product with types erased.
/// @throws error as `dot`.
TALLY_EXPORT void dot(const executor& where, const dot_arguments& arguments);

/// What `automatic()` runs on.
TALLY_EXPORT executor choose(const operand& x, const operand& y);

namespace dots {

template <class R, class X, class Y>
using accumulator =
    std::conditional_t<std::is_void_v<R>, dot_result_t<element_t<X>, element_t<Y>>, R>;

template <class R, class X, class Y>
concept computable = vector_operand<X> && vector_operand<Y> &&
                     dot_accumulator<accumulator<R, X, Y>, element_t<X>, element_t<Y>>;

template <class R, class X, class Y>
accumulator<R, X, Y> returned(const executor& where, const X& x, const Y& y, conjugate conjugated,
                              grade g) {
  accumulator<R, X, Y> r;
  const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px, const auto* py) {
    r = kernels.dot(px, py, n);
    return true;
  };
  if constexpr (std::same_as<accumulator<R, X, Y>, dot_result_t<element_t<X>, element_t<Y>>>) {
    if (!g.is_exact() && detail::with_level_one<element_t<X>>(where, short_way, x, y)) return r;
  }
  dot(where, dot_arguments{
                 as_operand(x), as_operand(y), conjugated, {&r, type_of<decltype(r)>}, {g, true}});
  return r;
}
template <class X, class Y, class P>
void written(const executor& where, const X& x, const Y& y, conjugate conjugated, P& result,
             grade g) {
  auto* const r =
      results::first(conjugated == conjugate::none ? "tally::dot" : "tally::dotc", result);
  dot(where, dot_arguments{as_operand(x),
                           as_operand(y),
                           conjugated,
                           {r, type_of<results::element_t<P>>},
                           {g, false}});
}

/// Whether exact sums of `T` hold all products of these vectors.
template <class T, class X, class Y>
concept addable = vector_operand<X> && vector_operand<Y> &&
                  (std::same_as<T, double> || !(std::same_as<real_t<element_t<X>>, double> ||
                                                std::same_as<real_t<element_t<Y>>, double>));

template <class X, class Y>
inline constexpr bool parted = is_complex_v<element_t<X>> || is_complex_v<element_t<Y>>;

template <class T, class X, class Y>
void added(const executor& where, const X& x, const Y& y, conjugate conjugated, std::int64_t* words,
           bool wait) {
  constexpr type sum = exact_sums::type_of_sum<T>(parted<X, Y>);
  dot(where,
      dot_arguments{as_operand(x), as_operand(y), conjugated, {words, sum, true}, {exact, wait}});
}

}  // namespace dots

/// r = sum_i x_i*y_i, complex vectors unconjugated (BLAS `dot`, `dotu`). Blocks.
///
/// @param x, y   n elements each, of any two element types (`vector_operand`); may overlap.
/// @param g      `tally::exact` for the correctly rounded value: `tally::dot(x, y, tally::exact)`.
/// @tparam R     accumulator and result: `dot_result_t`, or on request `dot_widest_t`:
///               `tally::dot<double>(x, y)`.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment, misaligned,
///               device_failure; wrong_memory if the executor can't read an operand (a device
///               pointer on a CPU backend or the reverse, in a process that uses CUDA; addresses
///               once seen in host memory are not looked up again).
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dot(const executor& where, const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(where, x, y, conjugate::none, g);
}

/// The same on `automatic()`.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dot(const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(automatic(), x, y, conjugate::none, g);
}

/// result = sum_i x_i*y_i, accumulated in the type of `result`. Doesn't block: on a device the call
/// returns once the work is queued on the executor's stream, and may be captured in a graph.
/// (Executable graphs of one captured graph share scratch memory: they must not run at once.)
/// @param result destination (`result_place`); written after x and y were read, so may be one of
///               their elements.
/// @throws error as above; wrong_memory, null_pointer, misaligned or size_mismatch for `result`.
template <vector_operand X, vector_operand Y, result_place R>
  requires dots::computable<results::element_t<R>, X, Y>
void dot(const executor& where, const X& x, const Y& y, R&& result, grade g = {}) {
  dots::written(where, x, y, conjugate::none, result, g);
}

/// Adds sum_i x_i*y_i to an exact sum, a complex result to two: `tally::dot(where, x, y,
/// tally::add_to(sum))`. Blocks. On failure the sums are unchanged.
/// @throws error as `dot`, and size_mismatch for a wrong number of sums.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dot(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  exact_sums::merge_into("tally::dot", sums, dots::parted<X, Y> ? 2 : 1, [&](std::int64_t* words) {
    dots::added<T>(where, x, y, conjugate::none, words, true);
  });
}

/// Adds to limbs where the executor can write. Doesn't block.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dot(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  dots::added<T>(where, x, y, conjugate::none, words.words, false);
}

/// r = sum_i conj(x_i)*y_i (BLAS `dotc`).
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dotc(const executor& where, const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(where, x, y, conjugate::x, g);
}

/// The same on `automatic()`.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dotc(const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(automatic(), x, y, conjugate::x, g);
}

/// result = sum_i conj(x_i)*y_i. Doesn't block.
template <vector_operand X, vector_operand Y, result_place R>
  requires dots::computable<results::element_t<R>, X, Y>
void dotc(const executor& where, const X& x, const Y& y, R&& result, grade g = {}) {
  dots::written(where, x, y, conjugate::x, result, g);
}

/// Adds sum_i conj(x_i)*y_i to exact sums.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dotc(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  exact_sums::merge_into("tally::dotc", sums, dots::parted<X, Y> ? 2 : 1, [&](std::int64_t* words) {
    dots::added<T>(where, x, y, conjugate::x, words, true);
  });
}

/// Adds to limbs where the executor can write. Doesn't block.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dotc(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  dots::added<T>(where, x, y, conjugate::x, words.words, false);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace dots {

using vectors = refusals::arguments<refusals::vector, refusals::vector>;

}  // namespace dots

template <class... T>
  requires refusals::refused<dots::vectors, T...>
auto dot(const T&...) {
  return refusals::refuse<dots::vectors, T...>();
}

template <class... T>
auto dot(...) {
  static_assert(refusals::never<T...>,
                "dot takes an executor or none, two operands, then tally::exact or nothing; a "
                "result, a pointer or memory of the sum's type, comes after them and only where "
                "an executor comes first; dot<R> sums in R, which is no narrower than the sum's "
                "own type (tally::dot_result_t)");
  return 0.0;
}

template <class... T>
  requires refusals::refused<dots::vectors, T...>
auto dotc(const T&...) {
  return refusals::refuse<dots::vectors, T...>();
}

template <class... T>
auto dotc(...) {
  static_assert(refusals::never<T...>,
                "dotc takes an executor or none, two operands, then tally::exact or nothing; a "
                "result, a pointer or memory of the sum's type, comes after them and only where "
                "an executor comes first; dotc<R> sums in R, which is no narrower than the sum's "
                "own type (tally::dot_result_t)");
  return 0.0;
}

// @endcond
}  // namespace tally
