// Dot products: r = sum of x_i*y_i, i = 0 ... n-1, one vector maybe conjugated.
//
// Promise: the bits depend on the values, their order and the accumulator's type only
// (<tally/numerics/order.hpp>). Integers are exact modulo 2^64. Otherwise the error is at most
// (min(chunk, n)/lanes + ceil(log2 n) + 1)*eps*sum |x_i*y_i|, to first order in eps, plus half the
// least subnormal per underflowing product, unless a sum overflows. A NaN is the positive quiet one
// with an empty payload; any zero is +0.
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

/// The vector that enters conjugated.
enum class conjugate : std::uint8_t { none, x, y };

/// Options of dot products: `tally::exact`, `tally::conjugate::x`, or
/// `tally::dot_options(tally::conjugate::x, tally::exact)`.
struct dot_options {
  conjugate conjugated = conjugate::none;  ///< the conjugated vector
  tally::grade grade = {};                 ///< default or exact

  constexpr dot_options() = default;
  /// A grade.
  constexpr dot_options(tally::grade g) : grade(g) {}
  /// The exact grade.
  constexpr dot_options(exact_grade g) : grade(g) {}
  /// A conjugated vector, and maybe a grade.
  constexpr dot_options(conjugate vector, tally::grade g = {}) : conjugated(vector), grade(g) {}
};

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

namespace detail {

template <class X, class Y>
using dot_sum = product_sum<element_t<X>, element_t<Y>>;

/// Accumulator of a dot product, on request R.
template <class R, class X, class Y>
using dot_accumulator_t = sum_t<dot_sum<X, Y>, R>;

template <class R, class X, class Y>
concept has_dot = vector_operand<X> && vector_operand<Y> && summable<dot_sum<X, Y>, R>;

template <class R = void>
struct dot_call : sum_call<dot_call<R>, R, dot_options, dot_arguments> {
  template <class X, class Y>
  static consteval wrong of() {
    return first_wrong<wrong_vector<X>, wrong_vector<Y>>;
  }
  template <class X, class Y>
  using sum = dot_sum<X, Y>;
};

}  // namespace detail

/// r = sum_i x_i*y_i, complex vectors unconjugated (BLAS `dot`, `dotu`); with `conjugate::x`
/// sum_i conj(x_i)*y_i (`dotc`). Blocks.
///
/// @param x, y   n elements each, of any two element types (`vector_operand`); may overlap.
/// @param how    conjugation and grade: `tally::dot(x, y, tally::exact)` is correctly rounded.
/// @tparam R     accumulator and result: `dot_result_t`, or on request `dot_widest_t`:
///               `tally::dot<double>(x, y)`.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment, misaligned,
///               device_failure; wrong_memory if the executor can't read an operand (a device
///               pointer on a CPU backend or the reverse, in a process that uses CUDA; addresses
///               once seen in host memory are not looked up again).
template <class R = void, class X, class Y>
  requires detail::taken<detail::dot_call<R>, X, Y>
auto dot(const executor& where, const X& x, const Y& y, dot_options how = {}) {
  using rule = typename detail::dot_sum<X, Y>::rule;
  const auto write = [&](const output& to, const call_options& options) {
    const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px, const auto* py) {
      *static_cast<rule*>(to.data) = kernels.dot(px, py, n);
      return true;
    };
    if constexpr (std::same_as<detail::dot_accumulator_t<R, X, Y>, rule>) {
      if (!how.grade.is_exact() && detail::with_level_one<element_t<X>>(where, short_way, x, y)) {
        return;
      }
    }
    dot(where, dot_arguments{as_operand(x), as_operand(y), how.conjugated, to, options});
  };
  return detail::returned_sum<detail::dot_sum<X, Y>, R>(how.grade, write);
}

/// result = the same, accumulated in the type of `result`. Doesn't block: on a device the call
/// returns once the work is queued on the executor's stream, and may be captured in a graph.
/// (Executable graphs of one captured graph share scratch memory: they must not run at once.)
/// @param result destination (`result_place`), written after x and y were read, so maybe one of
///               their elements. Or exact sums, one, for a complex result two, that the product is
///               added to: `tally::dot(where, x, y, tally::add_to(sum))` blocks, and on failure
///               leaves them unchanged; limbs where the executor can write,
///               `tally::add_to<double>(words)`, don't block.
/// @throws error as above; wrong_memory, null_pointer, misaligned or size_mismatch for `result`.
template <class X, class Y, class P>
  requires detail::written<detail::dot_call<>, X, Y, P>
void dot(const executor& where, const X& x, const Y& y, P&& result, dot_options how = {}) {
  detail::written_sums<detail::dot_sum<X, Y>>(
      "tally::dot", 1, result, how.grade, [&](const output& to, const call_options& options) {
        dot(where, dot_arguments{as_operand(x), as_operand(y), how.conjugated, to, options});
      });
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::dot_call<R>, T...>
auto dot(T&&... arguments) {
  return dot<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::dot_call<R>, T...>>
  requires detail::refused<why, T...>
void dot(T&&...) = delete;  // [where,] x, y[, options]; where, x, y, result[, options]

}  // namespace tally
