// Element-wise functions of few operations, i = 0 ... n-1: quotients, absolute values, roots,
// powers, logarithms, comparisons.
//
// Each is called with the arguments in its documentation, and with an executor before them or, on
// `automatic()`, none. NaNs: unless said otherwise a function of a NaN is NaN. The rest is as in
// <tally/operations/transform.hpp>.
#pragma once

#include <tally/detail/elementwise_call.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <type_traits>

namespace tally {

namespace detail {

/// compare with a vector, or with a number.
template <class... A>
inline constexpr elementwise compare_function =
    (... || element<std::remove_cvref_t<A>>) ? elementwise::compare_constant : elementwise::compare;

}  // namespace detail

/// scale(alpha, x, z): z_i = alpha*x_i, `scal` into another vector.
template <class... A>
  requires detail::computes<elementwise::scale, A...>
void scale(A&&... arguments) {
  detail::call_elementwise<elementwise::scale>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::scale, A...>>
  requires detail::refused<why, A...>
void scale(A&&...) = delete;  // [where,] alpha, x, z

/// add_constant(x, b, z): z_i = x_i + b. A b without an imaginary part leaves that of x_i.
template <class... A>
  requires detail::computes<elementwise::add_constant, A...>
void add_constant(A&&... arguments) {
  detail::call_elementwise<elementwise::add_constant>(arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<
                          detail::elementwise_call<elementwise::add_constant>, T...>>
  requires detail::has_vectors<T...> && detail::refused<why, T...>
void add_constant(T&&...) = delete;  // [where,] x, b, z

/// div(x, y, z): z_i = x_i / y_i, not of integers; complex by Smith's formula (docs/numerics.md).
template <class... A>
  requires detail::computes<elementwise::div, A...>
void div(A&&... arguments) {
  detail::call_elementwise<elementwise::div>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::div, A...>>
  requires detail::refused<why, A...>
void div(A&&...) = delete;  // [where,] x, y, z

/// inv(x, z): z_i = 1 / x_i, not of integers; complex as `div` of 1.
template <class... A>
  requires detail::computes<elementwise::inv, A...>
void inv(A&&... arguments) {
  detail::call_elementwise<elementwise::inv>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::inv, A...>>
  requires detail::refused<why, A...>
void inv(A&&...) = delete;  // [where,] x, z

/// jacobi_step(x, alpha, y, d, z): z_i = x_i + (alpha*y_i)/d_i, not of integers; z may be x.
template <class... A>
  requires detail::computes<elementwise::jacobi_step, A...>
void jacobi_step(A&&... arguments) {
  detail::call_elementwise<elementwise::jacobi_step>(arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<
                          detail::elementwise_call<elementwise::jacobi_step>, T...>>
  requires detail::has_vectors<T...> && detail::refused<why, T...>
void jacobi_step(T&&...) = delete;  // [where,] x, alpha, y, d, z

/// abs(x, z): z_i = |x_i|; complex the modulus, within about a unit, without overflow on the way,
/// real. The least integer stays.
template <class... A>
  requires detail::computes<elementwise::abs, A...>
void(abs)(A&&... arguments) {
  detail::call_elementwise<elementwise::abs>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::abs, A...>>
  requires detail::refused<why, A...>
void(abs)(A&&...) = delete;  // [where,] x, z

/// sqrt(x, z): z_i = the root of x_i, floating-point; NaN below 0, -0 of -0.
template <class... A>
  requires detail::computes<elementwise::sqrt, A...>
void sqrt(A&&... arguments) {
  detail::call_elementwise<elementwise::sqrt>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::sqrt, A...>>
  requires detail::refused<why, A...>
void sqrt(A&&...) = delete;  // [where,] x, z

/// log(x, z): z_i = the natural logarithm of x_i, floating-point, off by less than a unit in the
/// last place; NaN below 0, minus infinity of either zero. 16-bit types are computed in float32.
template <class... A>
  requires detail::computes<elementwise::log, A...>
void log(A&&... arguments) {
  detail::call_elementwise<elementwise::log>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::log, A...>>
  requires detail::refused<why, A...>
void log(A&&...) = delete;  // [where,] x, z

/// tanh(x, z): z_i = tanh(x_i), floating-point, likewise; -0 of -0.
template <class... A>
  requires detail::computes<elementwise::tanh, A...>
void tanh(A&&... arguments) {
  detail::call_elementwise<elementwise::tanh>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::tanh, A...>>
  requires detail::refused<why, A...>
void tanh(A&&...) = delete;  // [where,] x, z

/// pow(x, n, z): z_i = x_i^n, n an integer of at most 2^24 in magnitude. A product of the squares
/// x, x^2, x^4, ... that n's binary digits name, from the lowest on; 1 / x^-n for negative n, not
/// of integers. x^0 is 1, also of NaN.
template <class... A>
  requires detail::computes<elementwise::pow, A...>
void pow(A&&... arguments) {
  detail::call_elementwise<elementwise::pow>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::pow, A...>>
  requires detail::refused<why, A...>
void pow(A&&...) = delete;  // [where,] x, n, z

/// minimum(x, y, z): z_i = the smaller of x_i and y_i, real. As IEEE 754-2019's minimum, NaN if
/// either is, and -0 below +0.
template <class... A>
  requires detail::computes<elementwise::minimum, A...>
void minimum(A&&... arguments) {
  detail::call_elementwise<elementwise::minimum>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::minimum, A...>>
  requires detail::refused<why, A...>
void minimum(A&&...) = delete;  // [where,] x, y, z

/// maximum(x, y, z): z_i = the larger of x_i and y_i, real; likewise IEEE 754-2019's maximum.
template <class... A>
  requires detail::computes<elementwise::maximum, A...>
void maximum(A&&... arguments) {
  detail::call_elementwise<elementwise::maximum>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::maximum, A...>>
  requires detail::refused<why, A...>
void maximum(A&&...) = delete;  // [where,] x, y, z

/// clamp(x, low, high, z): z_i = the minimum of high and the maximum of x_i and low, real; NaN if
/// one of the three is.
template <class... A>
  requires detail::computes<elementwise::clamp, A...>
void clamp(A&&... arguments) {
  detail::call_elementwise<elementwise::clamp>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::clamp, A...>>
  requires detail::refused<why, A...>
void clamp(A&&...) = delete;  // [where,] x, low, high, z

/// sign(x, z): z_i = 1, -1, or +0 of either zero; real.
template <class... A>
  requires detail::computes<elementwise::sign, A...>
void sign(A&&... arguments) {
  detail::call_elementwise<elementwise::sign>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::sign, A...>>
  requires detail::refused<why, A...>
void sign(A&&...) = delete;  // [where,] x, z

/// compare(x, comparison, y, z): z_i = 1 if the comparison of x_i with y_i, or with a number y, is
/// true, else 0; real, z of any real type. Both are converted to the computation's type first.
template <class... A>
  requires detail::computes<detail::compare_function<A...>, A...>
void compare(A&&... arguments) {
  detail::call_elementwise<detail::compare_function<A...>>(arguments...);
}

/// Refused, by `why`.
template <class... A,
          detail::wrong why = detail::wrong_elementwise<detail::compare_function<A...>, A...>>
  requires detail::refused<why, A...>
void compare(A&&...) = delete;  // [where,] x, comparison, y, z

/// where(mask, x, y, z): z_i = x_i where mask_i is not 0 (also NaN), else y_i. The mask is of bool,
/// integers, or real numbers that the type of x and y holds, and its type doesn't count for z's.
template <class... A>
  requires detail::computes<elementwise::where, A...>
void where(A&&... arguments) {
  detail::call_elementwise<elementwise::where>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::where, A...>>
  requires detail::refused<why, A...>
void where(A&&...) = delete;  // [where,] mask, x, y, z

}  // namespace tally
