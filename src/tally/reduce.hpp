// Reductions of one vector, i = 0 ... n-1: sum x_i, asum |x_i|, nrm2, the root of sum |x_i|^2.
//
// Promise: the bits of the result depend on the values, their order and the accumulator's type
// alone (the order contract, <tally/order.hpp>); they are the same on every executor, for any
// number of threads, any stride and alignment, and in every run. Sums of integers are exact modulo
// 2^64. nrm2 neither overflows nor underflows on the way: where the sum of squares would, the
// elements are scaled by a power of two. A NaN is returned as the positive quiet NaN with an empty
// payload; the result of an empty sum, and any zero, is +0. docs/numerics.md says it in full.
#pragma once

#include <tally/call_options.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <type_traits>

namespace tally {

/// What becomes of a vector: sum x_i; sum |x_i| (for complex |re| + |im|, BLAS `asum`);
/// sqrt(sum |x_i|^2) (BLAS `nrm2`).
enum class reduction : std::uint8_t { sum, asum, nrm2 };

/// What one reduction is asked for, its types erased. Element types are checked at run time;
/// `result.element` is the rule's own (`sum_result_t`, `asum_result_t`, `nrm2_result_t`) or the
/// widest. Of `result.words` it is that of the exact sum, as for `dot`; that of nrm2 is the sum of
/// squares.
struct reduce_arguments {
  operand x;                        ///< the vector
  reduction what = reduction::sum;  ///< which of the three
  output result;                    ///< where the result goes, and its type
  call_options options = {};        ///< the grade, and whether to wait
};

/// A reduction with its types erased: what the templates below call, for bindings.
/// @throws error, see `sum`.
TALLY_EXPORT void reduce(const executor& where, const reduce_arguments& arguments);

/// An executor fit for this operand: the CUDA device that holds it, else `openmp` or `simd` by
/// length. What `automatic()` runs on.
TALLY_EXPORT executor choose(const operand& x);

/// What the sum of a vector of `X` accumulates in and returns: `double` for `double`, `float` for
/// other floating-point types, `int64_t` for integers and `bool`, the complex of that for complex
/// ones.
template <element X>
using sum_result_t = dot_result_t<X, X>;

/// The same for the sum of magnitudes: real.
template <element X>
using asum_result_t = real_t<sum_result_t<X>>;

/// The same for the norm: `double` for `double`, integers and `bool`, `float` for other
/// floating-point types; of complex ones the type of their parts.
template <element X>
using nrm2_result_t =
    std::conditional_t<std::is_integral_v<asum_result_t<X>>, double, asum_result_t<X>>;

namespace reductions {

template <reduction what, element X>
using rule_t = std::conditional_t<
    what == reduction::sum, sum_result_t<X>,
    std::conditional_t<what == reduction::asum, asum_result_t<X>, nrm2_result_t<X>>>;

/// The widest that a caller may ask for instead: `double`; for the sum of complex elements
/// `complex<double>`.
template <reduction what, element X>
using widest_t = std::conditional_t<what == reduction::sum, dot_widest_t<X, X>, double>;

/// The result: `R`, or the rule's where none is asked for.
template <reduction what, class R, class X>
using result_t = std::conditional_t<std::is_void_v<R>, rule_t<what, element_t<X>>, R>;

template <reduction what, class R, class X>
concept computable =
    vector_operand<X> && (std::same_as<result_t<what, R, X>, rule_t<what, element_t<X>>> ||
                          std::same_as<result_t<what, R, X>, widest_t<what, element_t<X>>>);

/// The two forms with their types erased.
template <reduction what, class R, class X>
result_t<what, R, X> returned(const executor& where, const X& x, grade g) {
  result_t<what, R, X> r;
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

/// r = sum_i x_i.
///
/// @param where  the executor.
/// @param x      a vector of n elements of any of the element types: a contiguous range, a
///               `tally::strided`, or a rank-1 `Kokkos::View`.
/// @param g      `tally::exact` for the correctly rounded value: `tally::sum(x, tally::exact)`.
/// @tparam R     the accumulator and result; by default `sum_result_t`, and `double` (for complex
///               elements `complex<double>`) where asked for: `tally::sum<double>(x)`.
/// @return       r. Blocks until it is there.
/// @throws error null_pointer (with n > 0), zero_increment, misaligned; wrong_memory if the
///               executor can't read x (a device pointer given to a CPU backend or the reverse, in
///               a process that uses CUDA); device_failure.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
reductions::result_t<reduction::sum, R, X> sum(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::sum, R>(where, x, g);
}

/// As above, on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
reductions::result_t<reduction::sum, R, X> sum(const X& x, grade g = {}) {
  return reductions::returned<reduction::sum, R>(automatic(), x, g);
}

/// result = sum_i x_i, accumulated in its type. Doesn't block: on a device the call returns once
/// the work is queued on the executor's stream, and may be captured in a graph, as the same form of
/// `dot`.
/// @param result a pointer, or memory for one number (`result_place`), where the executor can
///               write: host memory for the CPU backends; device, managed or pinned host memory
///               for CUDA.
/// @throws error as above, and wrong_memory, null_pointer, misaligned or size_mismatch for
///               `result`.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::sum, results::element_t<R>, X>
void sum(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::sum>("tally::sum", where, x, result, g);
}

/// r = sum_i |x_i|, of complex elements |re x_i| + |im x_i| (BLAS `asum`). Real; parameters and
/// errors as for `sum`. R is `asum_result_t`, or `double` where asked for.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
reductions::result_t<reduction::asum, R, X> asum(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::asum, R>(where, x, g);
}

/// As above, on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
reductions::result_t<reduction::asum, R, X> asum(const X& x, grade g = {}) {
  return reductions::returned<reduction::asum, R>(automatic(), x, g);
}

/// result = sum_i |x_i|; doesn't block, as the same form of `sum`.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::asum, results::element_t<R>, X>
void asum(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::asum>("tally::asum", where, x, result, g);
}

/// r = sqrt(sum_i |x_i|^2) (BLAS `nrm2`), the root correctly rounded. Real; parameters and errors
/// as for `sum`. It is infinite only where an element is or the norm itself is out of range, and 0
/// only where all elements are. R is `nrm2_result_t`, or `double` where asked for.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
reductions::result_t<reduction::nrm2, R, X> nrm2(const executor& where, const X& x, grade g = {}) {
  return reductions::returned<reduction::nrm2, R>(where, x, g);
}

/// As above, on `automatic()`.
template <class R = void, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
reductions::result_t<reduction::nrm2, R, X> nrm2(const X& x, grade g = {}) {
  return reductions::returned<reduction::nrm2, R>(automatic(), x, g);
}

/// result = sqrt(sum_i |x_i|^2); doesn't block, as the same form of `sum`.
template <vector_operand X, result_place R>
  requires reductions::computable<reduction::nrm2, results::element_t<R>, X>
void nrm2(const executor& where, const X& x, R&& result, grade g = {}) {
  reductions::written<reduction::nrm2>("tally::nrm2", where, x, result, g);
}

// --- Sums that are not rounded yet -----------------------------------------------------------------

/// Adds sum_i x_i to an exact sum, of complex elements to two sums: `tally::sum(where, x,
/// tally::add_to(sum))`. Blocks until that is done; parameters and errors as for `sum`, and
/// size_mismatch for another number of sums. When it throws, the sums are as they were.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void sum(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::sum>("tally::sum", where, x, sums);
}

/// Adds it to words where the executor can write; doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void sum(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::sum, T>(where, x, words.words, false);
}

/// Adds sum_i |x_i| to an exact sum: `tally::asum(where, x, tally::add_to(sum))`.
/// Blocks until that is done; parameters and errors as for `asum`, and size_mismatch for another
/// number of sums. When it throws, the sums are as they were.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void asum(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::asum>("tally::asum", where, x, sums);
}

/// Adds it to words where the executor can write; doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void asum(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::asum, T>(where, x, words.words, false);
}

/// Adds sum_i |x_i|^2 to an exact sum (no root is taken before `round_root`): `tally::nrm2(where,
/// x, tally::add_to(sum))`. Blocks until that is done; parameters and errors as for `nrm2`, and
/// size_mismatch for another number of sums. When it throws, the sums are as they were.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void nrm2(const executor& where, const X& x, const added_sums<T>& sums) {
  reductions::merged<reduction::nrm2>("tally::nrm2", where, x, sums);
}

/// Adds it to words where the executor can write; doesn't block.
template <vector_operand X, float_or_double T>
  requires(std::same_as<T, double> || !std::same_as<real_t<element_t<X>>, double>)
void nrm2(const executor& where, const X& x, const added_words<T>& words) {
  reductions::added<reduction::nrm2, T>(where, x, words.words, false);
}

// --- What is no operand ---------------------------------------------------------------------------

namespace reductions {

using vector = refusals::arguments<refusals::vector>;

}  // namespace reductions

/// Says what is no operand.
template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto sum(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto sum(...) {
  static_assert(refusals::never<T...>,
                "sum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; sum<R> has an R no narrower than the type of its own");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto asum(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto asum(...) {
  static_assert(refusals::never<T...>,
                "asum takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; asum<R> has an R no narrower than the type of its own");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<reductions::vector, T...>
auto nrm2(const T&...) {
  return refusals::refuse<reductions::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto nrm2(...) {
  static_assert(refusals::never<T...>,
                "nrm2 takes an executor or none, an operand, then tally::exact or nothing; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first; nrm2<R> has an R no narrower than the type of its own");
  return 0.0;
}

}  // namespace tally
