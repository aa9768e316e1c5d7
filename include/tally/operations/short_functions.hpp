// Element-wise functions of few operations, i = 0 ... n-1: quotients, absolute values, roots,
// powers, logarithms, comparisons.
//
// Each is called with the arguments in its documentation, and with an executor before them or, on
// `automatic()`, none. NaNs: unless said otherwise a function of a NaN is NaN. The rest is as in
// <tally/operations/transform.hpp>.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/operations/transform.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tally {

namespace detail {

/// Functions of any factors, inputs and an output, which is last.
template <elementwise what>
struct elementwise_call {
  static constexpr std::size_t count = factors(what), n = inputs(what);
  /// Place of the factors: behind the first input, but in scale.
  static constexpr std::size_t first = what == elementwise::scale ? 0 : 1;

  template <class A>
  static constexpr bool is_factor =
      element<std::remove_cvref_t<A>> || std::same_as<std::remove_cvref_t<A>, comparison>;
  /// Whether these may be the arguments.
  template <class... A>
  static constexpr bool is_call = [] {
    if (sizeof...(A) != count + n + 1 || is_placed<A...>) return false;
    std::size_t place = 0;  // before the factors the difference wraps around
    return (... && (is_factor<A> == (place++ - first < count)));
  }();

  template <class... A>
  static void run(const executor& where, A&... arguments) {
    const auto all = std::tie(arguments...);
    constexpr std::size_t place_of_x = first == 0 ? count : 0;
    const auto& x = std::get<place_of_x>(all);
    const auto& y = std::get<(n > 1 ? count + 1 : place_of_x)>(all);
    const auto& w = std::get<(n > 2 ? count + 2 : place_of_x)>(all);
    auto& z = std::get<count + n>(all);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      using X = std::remove_cvref_t<decltype(x)>;
      using Y = std::remove_cvref_t<decltype(y)>;
      using W = std::remove_cvref_t<decltype(w)>;
      if constexpr (takes_vectors<
                        what, X, Y, W, decltype(z),
                        factor_type<std::tuple_element_t<first + i, std::tuple<A...>>>...>()) {
        if (run_short<what>(where, x, y, w, z, std::get<first + i>(all)...)) return;
        const scalar numbers[3] = {number(std::get<first + i>(all))...};
        transform(where,
                  {what, numbers[0], numbers[1], as_operand(x), n > 1 ? as_operand(y) : operand(),
                   as_output(z), numbers[2], n > 2 ? as_operand(w) : operand()});
      }
    }(std::make_index_sequence<count>());
  }

 private:
  template <class A>
  using factor_type = std::conditional_t<std::same_as<std::remove_cvref_t<A>, comparison>, bool,
                                         std::remove_cvref_t<A>>;
  static scalar number(comparison c) { return std::int32_t{code_of(c)}; }
  template <element S>
  static scalar number(const S& factor) {
    return factor;
  }
};

/// Calls a function with an executor, or on `automatic()`.
template <elementwise what, class First, class... A>
void call_elementwise(First&& first, A&&... arguments) {
  using call = elementwise_call<what>;
  constexpr bool placed = is_placed<First>;
  constexpr bool valid =
      placed ? call::template is_call<A...> : call::template is_call<First, A...>;
  static_assert(valid,
                "the arguments are the vectors and factors of the function's formula in the "
                "documentation, in its order, and may begin with an executor");
  if constexpr (valid && placed) {
    call::run(first, arguments...);
  } else if constexpr (valid) {
    call::run(automatic(), first, arguments...);
  }
}

}  // namespace detail

/// scale(alpha, x, z): z_i = alpha*x_i, `scal` into another vector.
template <class... A>
  requires detail::has_vectors<A...>
auto scale(A&&... arguments) {
  return detail::call_elementwise<elementwise::scale>(arguments...);
}

/// add_constant(x, b, z): z_i = x_i + b. A b without an imaginary part leaves that of x_i.
template <class... A>
  requires detail::has_vectors<A...>
auto add_constant(A&&... arguments) {
  return detail::call_elementwise<elementwise::add_constant>(arguments...);
}

/// div(x, y, z): z_i = x_i / y_i, not of integers; complex by Smith's formula (docs/numerics.md).
template <class... A>
  requires detail::has_vectors<A...>
auto div(A&&... arguments) {
  return detail::call_elementwise<elementwise::div>(arguments...);
}

/// inv(x, z): z_i = 1 / x_i, not of integers; complex as `div` of 1.
template <class... A>
  requires detail::has_vectors<A...>
auto inv(A&&... arguments) {
  return detail::call_elementwise<elementwise::inv>(arguments...);
}

/// jacobi_step(x, alpha, y, d, z): z_i = x_i + (alpha*y_i)/d_i, not of integers; z may be x.
template <class... A>
  requires detail::has_vectors<A...>
auto jacobi_step(A&&... arguments) {
  return detail::call_elementwise<elementwise::jacobi_step>(arguments...);
}

/// abs(x, z): z_i = |x_i|; complex the modulus, within about a unit, without overflow on the way,
/// real. The least integer stays.
template <class... A>
  requires detail::has_vectors<A...>
auto(abs)(A&&... arguments) {
  return detail::call_elementwise<elementwise::abs>(arguments...);
}

/// sqrt(x, z): z_i = the root of x_i, floating-point; NaN below 0, -0 of -0.
template <class... A>
  requires detail::has_vectors<A...>
auto sqrt(A&&... arguments) {
  return detail::call_elementwise<elementwise::sqrt>(arguments...);
}

/// log(x, z): z_i = the natural logarithm of x_i, floating-point, off by less than a unit in the
/// last place; NaN below 0, minus infinity of either zero. 16-bit types are computed in float32.
template <class... A>
  requires detail::has_vectors<A...>
auto log(A&&... arguments) {
  return detail::call_elementwise<elementwise::log>(arguments...);
}

/// tanh(x, z): z_i = tanh(x_i), floating-point, likewise; -0 of -0.
template <class... A>
  requires detail::has_vectors<A...>
auto tanh(A&&... arguments) {
  return detail::call_elementwise<elementwise::tanh>(arguments...);
}

/// pow(x, n, z): z_i = x_i^n, n an integer of at most 2^24 in magnitude. A product of the squares
/// x, x^2, x^4, ... that n's binary digits name, from the lowest on; 1 / x^-n for negative n, not
/// of integers. x^0 is 1, also of NaN.
template <class... A>
  requires detail::has_vectors<A...>
auto pow(A&&... arguments) {
  return detail::call_elementwise<elementwise::pow>(arguments...);
}

/// minimum(x, y, z): z_i = the smaller of x_i and y_i, real. As IEEE 754-2019's minimum, NaN if
/// either is, and -0 below +0.
template <class... A>
  requires detail::has_vectors<A...>
auto minimum(A&&... arguments) {
  return detail::call_elementwise<elementwise::minimum>(arguments...);
}

/// maximum(x, y, z): z_i = the larger of x_i and y_i, real; likewise IEEE 754-2019's maximum.
template <class... A>
  requires detail::has_vectors<A...>
auto maximum(A&&... arguments) {
  return detail::call_elementwise<elementwise::maximum>(arguments...);
}

/// clamp(x, low, high, z): z_i = the minimum of high and the maximum of x_i and low, real; NaN if
/// one of the three is.
template <class... A>
  requires detail::has_vectors<A...>
auto clamp(A&&... arguments) {
  return detail::call_elementwise<elementwise::clamp>(arguments...);
}

/// sign(x, z): z_i = 1, -1, or +0 of either zero; real.
template <class... A>
  requires detail::has_vectors<A...>
auto sign(A&&... arguments) {
  return detail::call_elementwise<elementwise::sign>(arguments...);
}

/// compare(x, comparison, y, z): z_i = 1 if the comparison of x_i with y_i, or with a number y, is
/// true, else 0; real, z of any real type. Both are converted to the computation's type first.
template <class X, class... A>
  requires detail::has_vectors<X, A...>
auto compare(X&& x, A&&... arguments) {
  constexpr bool with_number = (... || element<std::remove_cvref_t<A>>);
  constexpr elementwise what = with_number ? elementwise::compare_constant : elementwise::compare;
  return detail::call_elementwise<what>(x, arguments...);
}

/// where(mask, x, y, z): z_i = x_i where mask_i is not 0 (also NaN), else y_i. The mask is of bool,
/// integers, or real numbers that the type of x and y holds, and its type doesn't count for z's.
template <class... A>
  requires detail::has_vectors<A...>
auto where(A&&... arguments) {
  return detail::call_elementwise<elementwise::where>(arguments...);
}

}  // namespace tally
