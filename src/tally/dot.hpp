// Dot products: r = sum of x_i * y_i, i = 0 ... n-1, and its conjugated form.
//
// Promise: the bits of the result depend on the values, their order and the accumulator's type
// alone (the order contract, <tally/order.hpp>); they are the same on every executor, for any
// number of threads, any stride and alignment, and in every run. Integers are exact modulo 2^64.
// For others the error is at most (min(chunk, n)/lanes + ceil(log2 n) + 1) * eps * sum |x_i * y_i|,
// to first order in eps, as long as no sum overflows, and for each product that underflows half of
// the least subnormal number more. A NaN is returned as the positive quiet NaN with an empty
// payload; the result of an empty sum, and any zero, is +0.
#pragma once

#include <tally/call_options.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <ranges>
#include <span>
#include <type_traits>

namespace tally {

/// Which of the two vectors enters conjugated.
enum class conjugate : std::uint8_t { none, x, y };

/// What one dot product is asked for, its types erased. Element types are checked at run time;
/// `result.element` is the accumulator: the rule's own (`dot_result_t`) or the widest
/// (`dot_widest_t`). Of `result.words` it is that of the exact sum: float64, complex128 where an
/// operand is complex, or, where none is of doubles, float32 or complex64; the grade is exact.
struct dot_arguments {
  operand x;                               ///< the first vector
  operand y;                               ///< the second, as long as x
  conjugate conjugated = conjugate::none;  ///< which of them is conjugated
  output result;                           ///< where the result goes, and its type
  call_options options = {};               ///< the grade, and whether to wait
};

/// The dot product with its types erased: what the templates below call, for bindings to other
/// languages.
/// @throws error, see `dot`.
TALLY_EXPORT void dot(const executor& where, const dot_arguments& arguments);

/// An executor fit for these operands: the CUDA device that holds them, else `openmp` or `simd` by
/// length. What `automatic()` runs on.
TALLY_EXPORT executor choose(const operand& x, const operand& y);

namespace dots {

/// The accumulator: `R`, or the rule's where none is asked for.
template <class R, class X, class Y>
using accumulator =
    std::conditional_t<std::is_void_v<R>, dot_result_t<element_t<X>, element_t<Y>>, R>;

template <class R, class X, class Y>
concept computable = vector_operand<X> && vector_operand<Y> &&
                     dot_accumulator<accumulator<R, X, Y>, element_t<X>, element_t<Y>>;

/// r = sum_i x_i * y_i of contiguous vectors of one type: what the templates below call for these.
/// The bits, the errors and the blocking are those of `dot` with its types erased; for vectors that
/// one thread of the host sums in the default grade it is a shorter way.
TALLY_EXPORT double of_numbers(const executor& where, std::span<const double> x,
                               std::span<const double> y, grade g);
/// As above.
TALLY_EXPORT float of_numbers(const executor& where, std::span<const float> x,
                              std::span<const float> y, grade g);
/// As above.
TALLY_EXPORT float of_numbers(const executor& where, std::span<const float16> x,
                              std::span<const float16> y, grade g);
/// As above.
TALLY_EXPORT float of_numbers(const executor& where, std::span<const bfloat16> x,
                              std::span<const bfloat16> y, grade g);
/// As above.
TALLY_EXPORT std::int64_t of_numbers(const executor& where, std::span<const std::int8_t> x,
                                     std::span<const std::int8_t> y, grade g);
/// As above.
TALLY_EXPORT std::int64_t of_numbers(const executor& where, std::span<const std::uint8_t> x,
                                     std::span<const std::uint8_t> y, grade g);

/// Are vectors and an accumulator that one of `of_numbers` is for.
template <class R, class X, class Y>
concept numbers =
    operands::contiguous<X> && operands::contiguous<Y> &&
    std::same_as<operands::value_t<X>, operands::value_t<Y>> &&
    requires(const executor& where, std::span<const operands::value_t<X>> v, grade g) {
      { of_numbers(where, v, v, g) } -> std::same_as<accumulator<R, X, Y>>;
    };

/// The two forms, with their types erased but for `numbers`.
template <class R, class X, class Y>
accumulator<R, X, Y> returned(const executor& where, const X& x, const Y& y, conjugate conjugated,
                              grade g) {
  if constexpr (numbers<R, X, Y>) {
    if (conjugated == conjugate::none) {
      const auto all = [](const auto& v) {
        return std::span<const element_t<X>>(std::ranges::data(v),
                                             static_cast<std::size_t>(std::ranges::size(v)));
      };
      return of_numbers(where, all(x), all(y), g);
    }
  }
  accumulator<R, X, Y> r;
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

/// Exact sums of `T` hold all products of these vectors.
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

/// r = sum_i x_i * y_i, complex vectors unconjugated (BLAS `dot`, `dotu`).
///
/// @param where  the executor.
/// @param x, y   vectors of n elements each, of any two of the element types: a contiguous range, a
///               `tally::strided`, or a rank-1 `Kokkos::View`. They may be the same or overlap.
/// @param g      `tally::exact` for the correctly rounded value: `tally::dot(x, y, tally::exact)`.
/// @tparam R     the accumulator and result; by default `dot_result_t`, and `double` (for complex
///               operands `complex<double>`) where asked for: `tally::dot<double>(x, y)`.
/// @return       r. Blocks until it is there.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment, misaligned;
///               wrong_memory if the executor can't read an operand (a device pointer given to a
///               CPU backend or the reverse, in a process that uses CUDA; an address that was
///               host memory in an earlier call is not looked up again); device_failure.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dot(const executor& where, const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(where, x, y, conjugate::none, g);
}

/// As above, on `automatic()`.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dot(const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(automatic(), x, y, conjugate::none, g);
}

/// result = sum_i x_i * y_i, accumulated in its type. Doesn't block: on a device the call returns
/// once the work is queued on the executor's stream, and may be captured in a graph. (Two
/// executable graphs made from that one, or clones of it, share scratch memory: they must not run
/// at once.)
/// @param result a pointer, or memory for one number (`result_place`), where the executor can
///               write: host memory for the CPU backends; device, managed or pinned host memory
///               for CUDA. It is written when all of x and y has been read, so it may be one of
///               their elements.
/// @throws error as above, and wrong_memory, null_pointer, misaligned or size_mismatch for
///               `result`.
template <vector_operand X, vector_operand Y, result_place R>
  requires dots::computable<results::element_t<R>, X, Y>
void dot(const executor& where, const X& x, const Y& y, R&& result, grade g = {}) {
  dots::written(where, x, y, conjugate::none, result, g);
}

/// Adds sum_i x_i * y_i to an exact sum, of a complex result to two: `tally::dot(where, x, y,
/// tally::add_to(sum))`. Blocks until that is done; parameters and errors as for `dot`, and
/// size_mismatch for another number of sums. When it throws, the sums are as they were.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dot(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  exact_sums::merge_into("tally::dot", sums, dots::parted<X, Y> ? 2 : 1, [&](std::int64_t* words) {
    dots::added<T>(where, x, y, conjugate::none, words, true);
  });
}

/// Adds it to words where the executor can write; doesn't block, as the form of `dot` that writes
/// its result.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dot(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  dots::added<T>(where, x, y, conjugate::none, words.words, false);
}

/// r = sum_i conj(x_i) * y_i (BLAS `dotc`); the same as `dot` for real x.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dotc(const executor& where, const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(where, x, y, conjugate::x, g);
}

/// As above, on `automatic()`.
template <class R = void, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
dots::accumulator<R, X, Y> dotc(const X& x, const Y& y, grade g = {}) {
  return dots::returned<R>(automatic(), x, y, conjugate::x, g);
}

/// result = sum_i conj(x_i) * y_i; doesn't block, as the same form of `dot`.
template <vector_operand X, vector_operand Y, result_place R>
  requires dots::computable<results::element_t<R>, X, Y>
void dotc(const executor& where, const X& x, const Y& y, R&& result, grade g = {}) {
  dots::written(where, x, y, conjugate::x, result, g);
}

/// Adds sum_i conj(x_i) * y_i to an exact sum, of a complex result to two: `tally::dotc(where, x,
/// y, tally::add_to(sum))`. Blocks until that is done; parameters and errors as for `dotc`, and
/// size_mismatch for another number of sums. When it throws, the sums are as they were.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dotc(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  exact_sums::merge_into("tally::dotc", sums, dots::parted<X, Y> ? 2 : 1, [&](std::int64_t* words) {
    dots::added<T>(where, x, y, conjugate::x, words, true);
  });
}

/// Adds it to words where the executor can write; doesn't block, as the form of `dotc` that writes
/// its result.
template <vector_operand X, vector_operand Y, float_or_double T>
  requires dots::addable<T, X, Y>
void dotc(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  dots::added<T>(where, x, y, conjugate::x, words.words, false);
}

// --- What is no operand ---------------------------------------------------------------------------

namespace dots {

using vectors = refusals::arguments<refusals::vector, refusals::vector>;

}  // namespace dots

/// Says what is no operand.
template <class... T>
  requires refusals::refused<dots::vectors, T...>
auto dot(const T&...) {
  return refusals::refuse<dots::vectors, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto dot(...) {
  static_assert(refusals::never<T...>,
                "dot takes an executor or none, two operands, then tally::exact or nothing; a "
                "result, a pointer or memory of the sum's type, comes after them and only where "
                "an executor comes first; dot<R> sums in R, which is no narrower than the sum's "
                "own type (tally::dot_result_t)");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<dots::vectors, T...>
auto dotc(const T&...) {
  return refusals::refuse<dots::vectors, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto dotc(...) {
  static_assert(refusals::never<T...>,
                "dotc takes an executor or none, two operands, then tally::exact or nothing; a "
                "result, a pointer or memory of the sum's type, comes after them and only where "
                "an executor comes first; dotc<R> sums in R, which is no narrower than the sum's "
                "own type (tally::dot_result_t)");
  return 0.0;
}

}  // namespace tally
