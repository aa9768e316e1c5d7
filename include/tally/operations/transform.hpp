// Element-wise functions, i = 0 ... n-1, with BLAS's names and semantics; inputs precede outputs.
// (The caller's own: <tally/user_functions/transform_function.hpp>.)
//
// Promise: the bits of an element depend on the input elements, factors and types only. It is
// computed in one type, operation by operation as written (each rounded, no FMA), and rounded once
// to the output's type, to nearest even:
//
//   - Computation type: `dot_result_t` of the inputs, an updated vector included, a mask not;
//     float64 for exp and sigmoid of 16-bit types.
//   - Integers are computed modulo 2^64 and written modulo 2^bits.
//   - Outputs are of the inputs' kind (integer, floating-point, complex) or a wider one; `abs` of
//     complex numbers writes real ones, too, `compare` any real type; only `copy` from bool and
//     `compare` write bool. Anything else doesn't compile, or is unsupported_type.
//   - A computed NaN is the positive quiet one with an empty payload. `copy` between equal types
//     copies bits, a true bool as 1.
//
// Factors are converted to the computation type, to nearest even; floating-point ones need
// floating-point elements, complex ones complex elements. A complex factor whose imaginary part is
// zero before conversion multiplies both parts by its real part.
//
// With a last factor of 0, axpby, axpbypcz and axypbz omit the updated vector's term and don't read
// it: it may be uninitialised. Everywhere else 0*NaN is NaN, also with `waxpby`.
//
// Blocking: CPU backends return when the output is written; CUDA doesn't block, as `dot` into a
// result.
//
// An output is an input itself (same address and byte stride) or shares no element with one.
//
// Errors (tally::error), before anything is written: size_mismatch; null_pointer (with n > 0);
// zero_increment; misaligned; unsupported_type; overlap (interleaved vectors, as columns of one
// matrix, are allowed); wrong_memory; device_failure.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally {

namespace detail {

/// Whether a function gives a Z for X, Y and W, with factors of types S; a sentence if not.
template <elementwise what, class X, class Y, class W, class Z, class... S>
constexpr bool takes_vectors() {
  if constexpr (is_vector<X>() && is_vector<Y>() && is_vector<W>() && is_output<Z>() &&
                (... && is_factor<S>())) {
    constexpr type x = type_of<element_t<X>>, y = type_of<element_t<Y>>, w = type_of<element_t<W>>,
                   z = type_of<element_t<std::remove_cvref_t<Z>>>;
    constexpr domain inputs = description_of(what).inputs;
    constexpr type computation = computation_type(what, x, y, z, w);
    constexpr bool taken = takes(what, computation);
    static_assert(taken || inputs != domain::real, "the function is of real numbers");
    static_assert(taken || inputs != domain::floating_point,
                  "the function is of real floating-point numbers");
    static_assert(taken || inputs != domain::field,
                  "the function is of floating-point or complex numbers, not of integers");
    constexpr bool masked = what != elementwise::where || is_mask(x, computation);
    static_assert(masked,
                  "a mask is of bool or integers, or of real numbers that the computation "
                  "in x's and y's type keeps");
    constexpr bool fits = gives(what, x, y, z, w) && (... && multiplies(type_of<S>, computation));
    static_assert(fits || !taken,
                  "numbers that are not integers don't go into integers, complex ones not into "
                  "real ones, and only bool into bool, whether elements or factors");
    return taken && masked && fits;
  } else {
    return false;
  }
}

/// The same for up to two inputs.
template <elementwise what, class X, class Y, class Z, class... S>
constexpr bool is_computable() {
  return takes_vectors<what, X, Y, X, Z, S...>();
}

/// z = what(x ...) by a kernel of level one, if the call is one of these; returns whether it ran.
template <class T, class Z, class... X>
bool run_short(const executor& where, elementwise what, const T (&factors)[3], Z& z,
               const X&... x) {
  const auto short_way = [&](const level_one<T>& kernels, std::size_t n, T* to, const auto*... in) {
    if (!(... && is_same_or_apart<T>(in, to, n))) return false;
    const T* const from[] = {in..., to};  // fill has none
    if (what == elementwise::copy) {
      std::memmove(to, from[0], n * sizeof(T));
    } else if constexpr (std::floating_point<T>) {
      kernels.transform[static_cast<std::size_t>(what)](factors[0], factors[1], factors[2], from[0],
                                                        from[sizeof...(in) > 1 ? 1 : 0],
                                                        from[sizeof...(in) > 2 ? 2 : 0], to, n);
    }
    return true;
  };
  return with_level_one<T>(where, short_way, z, x...);
}

/// Whether kernels of level one take a factor of type S.
template <elementwise what, class T, class S>
constexpr bool takes_short =
    what == elementwise::pow ? std::integral<S> && !std::same_as<S, bool>
                             : std::same_as<S, comparison> || std::same_as<S, T>;

/// Returns whether the factor is valid.
template <elementwise what, class T, class S>
bool read_factor(const S& factor, T& number) {
  if constexpr (std::same_as<S, T>) {
    number = factor;
    return true;
  } else {
    std::int64_t integer;
    if constexpr (std::same_as<S, comparison>) {
      integer = code_of(factor);
    } else {
      integer = static_cast<std::int64_t>(factor);
    }
    if (integer > max_exponent || integer < (what == elementwise::pow ? -max_exponent : 0)) {
      return false;
    }
    number = static_cast<T>(integer);
    return true;
  }
}

/// The same with typed factors; y and w count where the function has them.
template <elementwise what, class X, class Y, class W, class Z, class... S>
bool run_short(const executor& where, const X& x, const Y& y, const W& w, Z& z,
               const S&... factors) {
  using output = std::remove_const_t<Z>;
  using T = element_t<output>;
  constexpr bool is_function = what == elementwise::copy || std::floating_point<T>;
  if constexpr (is_function && contiguous<output> && (... && takes_short<what, T, S>)) {
    T numbers[3] = {};
    [[maybe_unused]] T* number = numbers;
    if (!(... && read_factor<what>(factors, *number++))) return false;
    if constexpr (inputs(what) == 0) {
      return run_short(where, what, numbers, z);
    } else if constexpr (inputs(what) == 1) {
      return run_short(where, what, numbers, z, x);
    } else if constexpr (inputs(what) == 2) {
      return run_short(where, what, numbers, z, x, y);
    } else {
      return run_short(where, what, numbers, z, x, y, w);
    }
  } else {
    return false;
  }
}

/// z = what(x, y) with its factors, in order.
template <elementwise what, class X, class Y, class Z, class... S>
auto run_elementwise(const executor& where, const X& x, const Y& y, Z& z, const S&... factors) {
  if constexpr (is_computable<what, X, Y, Z&, S...>()) {
    if (run_short<what>(where, x, y, x, z, factors...)) return;
    const scalar all[3] = {scalar(factors)...};
    const operand second = is_binary(what) ? as_operand(y) : operand();
    transform(where, {what, all[0], all[1], as_operand(x), second, as_output(z), all[2]});
  }
}

}  // namespace detail

/// z_i = value, rounded once to z's type; a NaN becomes the positive quiet one with an empty
/// payload. Types as for `copy`.
///
/// @param value  a number of any element type.
/// @param z      n writable elements.
template <class S, class Z>
auto fill(const executor& where, const S& value, Z&& z) {
  if constexpr (detail::is_factor<S>()) {
    using values = strided_view<const S>;
    if constexpr (detail::is_computable<elementwise::fill, values, values, Z&>()) {
      if (detail::run_short<elementwise::fill>(where, z, z, z, z, value)) return;
      transform(where, {elementwise::fill, value, {}, {}, {}, as_output(z)});
    }
  }
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto fill(T&&... arguments) {
  static_assert(valid, "fill(value, z) may begin with an executor");
  if constexpr (valid) return fill(automatic(), arguments...);
}

/// Exchanges two vectors of one type that share no element, bit by bit (BLAS `swap`). No form
/// without an executor, or unqualified swap(a, b) of two views would find it.
template <class X, class Y>
auto swap(const executor& where, X&& x, Y&& y) {
  if constexpr (detail::is_output<X&>() && detail::is_output<Y&>()) {
    static_assert(
        std::same_as<element_t<std::remove_cvref_t<X>>, element_t<std::remove_cvref_t<Y>>>,
        "swap(where, x, y) exchanges vectors of the same type");
    swap_elements(where, as_output(x), as_output(y));
  }
}

/// No other form.
template <class... T>
auto swap(...) {
  static_assert(detail::never<T...>, "swap(where, x, y) begins with an executor");
}

/// y_i = x_i (BLAS `copy`).
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param y      n writable elements (`vector_output`).
template <class X, class Y>
auto copy(const executor& where, const X& x, Y&& y) {
  return detail::run_elementwise<elementwise::copy>(where, x, x, y);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto copy(T&&... arguments) {
  static_assert(valid, "copy(x, y) may begin with an executor");
  if constexpr (valid) return copy(automatic(), arguments...);
}

/// x_i = alpha*x_i (BLAS `scal`).
template <class S, class X>
auto scal(const executor& where, const S& alpha, X&& x) {
  return detail::run_elementwise<elementwise::scal>(where, x, x, x, alpha);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto scal(T&&... arguments) {
  static_assert(valid, "scal(alpha, x) may begin with an executor");
  if constexpr (valid) return scal(automatic(), arguments...);
}

/// y_i = alpha*x_i + y_i (BLAS `axpy`).
template <class S, class X, class Y>
auto axpy(const executor& where, const S& alpha, const X& x, Y&& y) {
  return detail::run_elementwise<elementwise::axpy>(where, x, y, y, alpha);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, void, T...>>
  requires(!detail::on_executor<3, 3, T...>)
auto axpy(T&&... arguments) {
  static_assert(valid, "axpy(alpha, x, y) may begin with an executor");
  if constexpr (valid) return axpy(automatic(), arguments...);
}

/// y_i = alpha*x_i + beta*y_i; y is not read where beta is 0.
template <class S, class X, class T, class Y>
auto axpby(const executor& where, const S& alpha, const X& x, const T& beta, Y&& y) {
  return detail::run_elementwise<elementwise::axpby>(where, x, y, y, alpha, beta);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<4, void, T...>>
  requires(!detail::on_executor<4, 4, T...>)
auto axpby(T&&... arguments) {
  static_assert(valid, "axpby(alpha, x, beta, y) may begin with an executor");
  if constexpr (valid) return axpby(automatic(), arguments...);
}

/// w_i = alpha*x_i + beta*y_i; x and y are always read.
template <class S, class X, class T, class Y, class W>
auto waxpby(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y, W&& w) {
  return detail::run_elementwise<elementwise::waxpby>(where, x, y, w, alpha, beta);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<5, void, T...>>
  requires(!detail::on_executor<5, 5, T...>)
auto waxpby(T&&... arguments) {
  static_assert(valid, "waxpby(alpha, x, beta, y, w) may begin with an executor");
  if constexpr (valid) return waxpby(automatic(), arguments...);
}

/// z_i = (alpha*x_i + beta*y_i) + gamma*z_i; z is not read where gamma is 0.
template <class S, class X, class T, class Y, class U, class Z>
auto axpbypcz(const executor& where, const S& alpha, const X& x, const T& beta, const Y& y,
              const U& gamma, Z&& z) {
  return detail::run_elementwise<elementwise::axpbypcz>(where, x, y, z, alpha, beta, gamma);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<6, void, T...>>
  requires(!detail::on_executor<6, 6, T...>)
auto axpbypcz(T&&... arguments) {
  static_assert(valid, "axpbypcz(alpha, x, beta, y, gamma, z) may begin with an executor");
  if constexpr (valid) return axpbypcz(automatic(), arguments...);
}

/// z_i = x_i + y_i.
template <class X, class Y, class Z>
auto add(const executor& where, const X& x, const Y& y, Z&& z) {
  return detail::run_elementwise<elementwise::add>(where, x, y, z);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, void, T...>>
  requires(!detail::on_executor<3, 3, T...>)
auto add(T&&... arguments) {
  static_assert(valid, "add(x, y, z) may begin with an executor");
  if constexpr (valid) return add(automatic(), arguments...);
}

/// z_i = x_i - y_i.
template <class X, class Y, class Z>
auto sub(const executor& where, const X& x, const Y& y, Z&& z) {
  return detail::run_elementwise<elementwise::sub>(where, x, y, z);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, void, T...>>
  requires(!detail::on_executor<3, 3, T...>)
auto sub(T&&... arguments) {
  static_assert(valid, "sub(x, y, z) may begin with an executor");
  if constexpr (valid) return sub(automatic(), arguments...);
}

/// z_i = x_i*y_i; complex (xr yr - xi yi) + (xr yi + xi yr) i, a real factor's imaginary part being
/// +0.
template <class X, class Y, class Z>
auto mul(const executor& where, const X& x, const Y& y, Z&& z) {
  return detail::run_elementwise<elementwise::mul>(where, x, y, z);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, void, T...>>
  requires(!detail::on_executor<3, 3, T...>)
auto mul(T&&... arguments) {
  static_assert(valid, "mul(x, y, z) may begin with an executor");
  if constexpr (valid) return mul(automatic(), arguments...);
}

/// z_i = (alpha*x_i)*y_i + beta*z_i, products as of `mul`; z is not read where beta is 0.
template <class S, class X, class Y, class T, class Z>
auto axypbz(const executor& where, const S& alpha, const X& x, const Y& y, const T& beta, Z&& z) {
  return detail::run_elementwise<elementwise::axypbz>(where, x, y, z, alpha, beta);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<5, void, T...>>
  requires(!detail::on_executor<5, 5, T...>)
auto axypbz(T&&... arguments) {
  static_assert(valid, "axypbz(alpha, x, y, beta, z) may begin with an executor");
  if constexpr (valid) return axypbz(automatic(), arguments...);
}

/// y_i = max(x_i, 0): +0 for -0, NaN for NaN. Real.
template <class X, class Y>
auto relu(const executor& where, const X& x, Y&& y) {
  return detail::run_elementwise<elementwise::relu>(where, x, x, y);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto relu(T&&... arguments) {
  static_assert(valid, "relu(x, y) may begin with an executor");
  if constexpr (valid) return relu(automatic(), arguments...);
}

/// y_i = 1 / (1 + exp(-x_i)), floating-point: at most 1 ulp off in float32 and float64, correctly
/// rounded between 16-bit types; no intermediate overflow.
template <class X, class Y>
auto sigmoid(const executor& where, const X& x, Y&& y) {
  return detail::run_elementwise<elementwise::sigmoid>(where, x, x, y);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto sigmoid(T&&... arguments) {
  static_assert(valid, "sigmoid(x, y) may begin with an executor");
  if constexpr (valid) return sigmoid(automatic(), arguments...);
}

/// y_i = exp(x_i), floating-point, as accurate as `sigmoid`.
template <class X, class Y>
auto exp(const executor& where, const X& x, Y&& y) {
  return detail::run_elementwise<elementwise::exp>(where, x, x, y);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(detail::has_vectors<T...> && !detail::on_executor<2, 2, T...>)
auto exp(T&&... arguments) {
  static_assert(valid, "exp(x, y) may begin with an executor");
  if constexpr (valid) return exp(automatic(), arguments...);
}

}  // namespace tally
