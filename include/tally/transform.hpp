// Element-wise functions, i = 0 ... n-1, with BLAS's names and semantics; inputs precede outputs.
// (The caller's own: <tally/transform_function.hpp>.)
//
// Promise: the bits of an element depend on the input elements, factors and types only. It is
// computed in one type, operation by operation as written (each rounded, no FMA), and rounded once
// to the output's type, to nearest even:
//
//   - Computation type: `dot_result_t` of the inputs, an updated vector included; float64 for exp
//     and sigmoid of 16-bit types.
//   - Integers are computed modulo 2^64 and written modulo 2^bits.
//   - Outputs are of the inputs' kind (integer, floating-point, complex) or a wider one; only
//     `copy` from bool writes bool. Anything else doesn't compile, or is unsupported_type.
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

#include <tally/detail/level_one.hpp>
#include <tally/detail/refusal.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/types.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally {

/// Element-wise functions.
enum class elementwise : std::uint8_t {
  fill,
  copy,
  scal,
  axpy,
  axpby,
  waxpby,
  add,
  sub,
  mul,
  axpbypcz,
  axypbz,
  relu,
  sigmoid,
  exp
};
/// The last enumerator.
inline constexpr elementwise last_elementwise = elementwise::exp;

/// A factor, type erased. Made in the caller's environment, which might flush a subnormal: see
/// `types::widened`.
struct scalar {
  type element = type::float64;      ///< original type
  std::int64_t integer = 0;          ///< value of an integer
  std::complex<double> number = {};  ///< value of any other type

  constexpr scalar() = default;
  /// A factor of any element type.
  template <tally::element T>
  constexpr scalar(const T& value) : element(type_of<T>) {
    if constexpr (is_complex_v<T>) {
      number = {types::widened(value.real()), types::widened(value.imag())};
    } else if constexpr (std::is_integral_v<T>) {
      integer = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
      number = value;
    } else {
      number = types::widened(static_cast<float>(value));
    }
  }

  /// Returns the factor in the computation type, rounded by the environment that the library sets.
  template <class C>
  constexpr C as() const {
    using R = real_t<C>;
    if (is_integer(element)) return C(static_cast<R>(integer));
    if constexpr (is_complex_v<C>) {
      return C(static_cast<R>(number.real()), static_cast<R>(number.imag()));
    } else {
      return static_cast<C>(number.real());
    }
  }

  /// Whether the imaginary part is 0.
  constexpr bool is_real() const { return number.imag() == 0; }
  /// Whether the number is 0, unconverted.
  constexpr bool is_zero() const { return integer == 0 && number == 0.0; }
};

/// Arguments with types erased, checked at run time.
struct transform_arguments {
  elementwise what = elementwise::copy;  ///< the function
  scalar alpha;                          ///< factor of x; of fill, the value
  scalar beta;                           ///< factor of y; of axypbz, of z
  operand x;                             ///< first input, except for fill
  operand y;                             ///< second input, if any
  output_operand z;                      ///< output; axpbypcz and axypbz read it, too
  scalar gamma = {};                     ///< of axpbypcz, factor of z
};

/// The element-wise functions with types erased.
TALLY_EXPORT void transform(const executor& where, const transform_arguments& arguments);

/// `swap` with types erased.
TALLY_EXPORT void swap_elements(const executor& where, const output_operand& x,
                                const output_operand& y);

/// `choose` (<tally/dot.hpp>) for three operands.
TALLY_EXPORT executor choose(const operand& x, const operand& y, const operand& z);

namespace transforms {

TALLY_HOST_DEVICE constexpr bool is_binary(elementwise what) {
  return what >= elementwise::axpy && what <= elementwise::axypbz;
}

TALLY_HOST_DEVICE constexpr bool reads_output(elementwise what) {
  return what == elementwise::axpbypcz || what == elementwise::axypbz;
}

TALLY_HOST_DEVICE constexpr bool is_exponential(elementwise what) {
  return what == elementwise::sigmoid || what == elementwise::exp;
}

constexpr int factors(elementwise what) {
  switch (what) {
    case elementwise::scal:
    case elementwise::axpy:
      return 1;
    case elementwise::axpby:
    case elementwise::waxpby:
    case elementwise::axypbz:
      return 2;
    case elementwise::axpbypcz:
      return 3;
    default:
      return 0;
  }
}

constexpr bool takes(elementwise what, type x) {
  if (what <= elementwise::axypbz) return true;
  return !is_complex(x) && (what == elementwise::relu || !is_integer(x));
}

/// Computation type. One input: y is x; fill: x is the value's type; z counts where read.
constexpr type computation_type(elementwise what, type x, type y, type z = type::boolean) {
  if (!reads_output(what)) z = type::boolean;
  const auto either = [&](type t) { return x == t || y == t || z == t; };
  const bool wide = either(type::float64) || either(type::complex128);
  if (is_complex(x) || is_complex(y) || is_complex(z)) {
    return wide ? type::complex128 : type::complex64;
  }
  if (wide) return type::float64;
  if (is_integer(x) && is_integer(y) && is_integer(z)) return type::int64;
  return is_exponential(what) && x != type::float32 ? type::float64 : type::float32;
}

/// Whether the result for x and y can be written as `z`.
constexpr bool gives(elementwise what, type x, type y, type z) {
  if (z == type::boolean) return what <= elementwise::copy && x == z;
  const type c = computation_type(what, x, y, z);
  return is_complex(z) || (!is_complex(c) && (!is_integer(z) || is_integer(c)));
}

constexpr bool multiplies(type s, type c) {
  return is_integer(s) || (!is_integer(c) && (is_complex(c) || !is_complex(s)));
}

template <elementwise what, class X, class Y, class Z>
concept computable =
    vector_operand<std::remove_cvref_t<X>> && vector_operand<std::remove_cvref_t<Y>> &&
    vector_output<Z> && takes(what, type_of<element_t<std::remove_cvref_t<X>>>) &&
    gives(what, type_of<element_t<std::remove_cvref_t<X>>>,
          type_of<element_t<std::remove_cvref_t<Y>>>, type_of<element_t<std::remove_cvref_t<Z>>>);

template <class S, elementwise what, class X, class Y, class Z>
concept factor =
    element<S> &&
    multiplies(type_of<S>, computation_type(what, type_of<element_t<std::remove_cvref_t<X>>>,
                                            type_of<element_t<std::remove_cvref_t<Y>>>,
                                            type_of<element_t<std::remove_cvref_t<Z>>>));

}  // namespace transforms

/// z_i = value, rounded once to z's type; a NaN becomes the positive quiet one with an empty
/// payload. Types as for `copy`.
///
/// @param value  a number of any element type.
/// @param z      n writable elements.
template <element S, vector_output Z>
  requires(transforms::gives(elementwise::fill, type_of<S>, type_of<S>,
                             type_of<element_t<std::remove_cvref_t<Z>>>))
void fill(const executor& where, S value, Z&& z) {
  transform(where, {elementwise::fill, value, {}, {}, {}, as_output(z)});
}

/// The same on `automatic()`.
template <element S, vector_output Z>
  requires(transforms::gives(elementwise::fill, type_of<S>, type_of<S>,
                             type_of<element_t<std::remove_cvref_t<Z>>>))
void fill(S value, Z&& z) {
  fill(automatic(), value, z);
}

/// Exchanges two vectors of one type that share no element, bit by bit (BLAS `swap`). No form
/// without an executor, or unqualified swap(a, b) of two views would find it.
template <vector_output X, vector_output Y>
  requires std::is_same_v<element_t<std::remove_cvref_t<X>>, element_t<std::remove_cvref_t<Y>>>
void swap(const executor& where, X&& x, Y&& y) {
  swap_elements(where, as_output(x), as_output(y));
}

/// y_i = x_i (BLAS `copy`).
///
/// @param x      n elements of any element type (`vector_operand`).
/// @param y      n writable elements (`vector_output`).
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::copy, X, X, Y>
void copy(const executor& where, const X& x, Y&& y) {
  const auto short_way = [](const auto&, std::size_t n, const auto* px, auto* py) {
    if (!detail::is_same_or_apart(px, py, n)) return false;
    std::memmove(py, px, n * sizeof *px);
    return true;
  };
  if (detail::with_level_one<element_t<X>>(where, short_way, x, y)) return;
  transform(where, {elementwise::copy, {}, {}, as_operand(x), {}, as_output(y)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::copy, X, X, Y>
void copy(const X& x, Y&& y) {
  copy(automatic(), x, y);
}

/// x_i = alpha*x_i (BLAS `scal`).
template <element S, vector_output X>
  requires transforms::computable<elementwise::scal, X, X, X> &&
           transforms::factor<S, elementwise::scal, X, X, X>
void scal(const executor& where, S alpha, X&& x) {
  if constexpr (std::floating_point<S>) {
    const auto short_way = [alpha](const auto& kernels, std::size_t n, auto* px) {
      kernels.scal(alpha, px, n);
      return true;
    };
    if (detail::with_level_one<S>(where, short_way, x)) return;
  }
  transform(where, {elementwise::scal, alpha, {}, as_operand(x), {}, as_output(x)});
}

/// The same on `automatic()`.
template <element S, vector_output X>
  requires transforms::computable<elementwise::scal, X, X, X> &&
           transforms::factor<S, elementwise::scal, X, X, X>
void scal(S alpha, X&& x) {
  scal(automatic(), alpha, x);
}

/// y_i = alpha*x_i + y_i (BLAS `axpy`).
template <element S, vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::axpy, X, Y, Y> &&
           transforms::factor<S, elementwise::axpy, X, Y, Y>
void axpy(const executor& where, S alpha, const X& x, Y&& y) {
  if constexpr (std::floating_point<S>) {
    const auto short_way = [alpha](const auto& kernels, std::size_t n, const auto* px, auto* py) {
      if (!detail::is_same_or_apart(px, py, n)) return false;
      kernels.axpy(alpha, px, py, n);
      return true;
    };
    if (detail::with_level_one<S>(where, short_way, x, y)) return;
  }
  transform(where, {elementwise::axpy, alpha, {}, as_operand(x), as_operand(y), as_output(y)});
}

/// The same on `automatic()`.
template <element S, vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::axpy, X, Y, Y> &&
           transforms::factor<S, elementwise::axpy, X, Y, Y>
void axpy(S alpha, const X& x, Y&& y) {
  axpy(automatic(), alpha, x, y);
}

/// y_i = alpha*x_i + beta*y_i; y is not read where beta is 0.
template <element S, vector_operand X, element T, vector_output Y>
  requires transforms::computable<elementwise::axpby, X, Y, Y> &&
           transforms::factor<S, elementwise::axpby, X, Y, Y> &&
           transforms::factor<T, elementwise::axpby, X, Y, Y>
void axpby(const executor& where, S alpha, const X& x, T beta, Y&& y) {
  transform(where, {elementwise::axpby, alpha, beta, as_operand(x), as_operand(y), as_output(y)});
}

/// The same on `automatic()`.
template <element S, vector_operand X, element T, vector_output Y>
  requires transforms::computable<elementwise::axpby, X, Y, Y> &&
           transforms::factor<S, elementwise::axpby, X, Y, Y> &&
           transforms::factor<T, elementwise::axpby, X, Y, Y>
void axpby(S alpha, const X& x, T beta, Y&& y) {
  axpby(automatic(), alpha, x, beta, y);
}

/// w_i = alpha*x_i + beta*y_i; x and y are always read.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires transforms::computable<elementwise::waxpby, X, Y, W> &&
           transforms::factor<S, elementwise::waxpby, X, Y, W> &&
           transforms::factor<T, elementwise::waxpby, X, Y, W>
void waxpby(const executor& where, S alpha, const X& x, T beta, const Y& y, W&& w) {
  transform(where, {elementwise::waxpby, alpha, beta, as_operand(x), as_operand(y), as_output(w)});
}

/// The same on `automatic()`.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires transforms::computable<elementwise::waxpby, X, Y, W> &&
           transforms::factor<S, elementwise::waxpby, X, Y, W> &&
           transforms::factor<T, elementwise::waxpby, X, Y, W>
void waxpby(S alpha, const X& x, T beta, const Y& y, W&& w) {
  waxpby(automatic(), alpha, x, beta, y, w);
}

/// z_i = (alpha*x_i + beta*y_i) + gamma*z_i; z is not read where gamma is 0.
template <element S, vector_operand X, element T, vector_operand Y, element U, vector_output Z>
  requires transforms::computable<elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<S, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<T, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<U, elementwise::axpbypcz, X, Y, Z>
void axpbypcz(const executor& where, S alpha, const X& x, T beta, const Y& y, U gamma, Z&& z) {
  transform(where, {elementwise::axpbypcz, alpha, beta, as_operand(x), as_operand(y), as_output(z),
                    gamma});
}

/// The same on `automatic()`.
template <element S, vector_operand X, element T, vector_operand Y, element U, vector_output Z>
  requires transforms::computable<elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<S, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<T, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<U, elementwise::axpbypcz, X, Y, Z>
void axpbypcz(S alpha, const X& x, T beta, const Y& y, U gamma, Z&& z) {
  axpbypcz(automatic(), alpha, x, beta, y, gamma, z);
}

/// z_i = x_i + y_i.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::add, X, Y, Z>
void add(const executor& where, const X& x, const Y& y, Z&& z) {
  transform(where, {elementwise::add, {}, {}, as_operand(x), as_operand(y), as_output(z)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::add, X, Y, Z>
void add(const X& x, const Y& y, Z&& z) {
  add(automatic(), x, y, z);
}

/// z_i = x_i - y_i.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::sub, X, Y, Z>
void sub(const executor& where, const X& x, const Y& y, Z&& z) {
  transform(where, {elementwise::sub, {}, {}, as_operand(x), as_operand(y), as_output(z)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::sub, X, Y, Z>
void sub(const X& x, const Y& y, Z&& z) {
  sub(automatic(), x, y, z);
}

/// z_i = x_i*y_i; complex (xr yr - xi yi) + (xr yi + xi yr) i, a real factor's imaginary part being
/// +0.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::mul, X, Y, Z>
void mul(const executor& where, const X& x, const Y& y, Z&& z) {
  transform(where, {elementwise::mul, {}, {}, as_operand(x), as_operand(y), as_output(z)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::mul, X, Y, Z>
void mul(const X& x, const Y& y, Z&& z) {
  mul(automatic(), x, y, z);
}

/// z_i = (alpha*x_i)*y_i + beta*z_i, products as of `mul`; z is not read where beta is 0.
template <element S, vector_operand X, vector_operand Y, element T, vector_output Z>
  requires transforms::computable<elementwise::axypbz, X, Y, Z> &&
           transforms::factor<S, elementwise::axypbz, X, Y, Z> &&
           transforms::factor<T, elementwise::axypbz, X, Y, Z>
void axypbz(const executor& where, S alpha, const X& x, const Y& y, T beta, Z&& z) {
  transform(where, {elementwise::axypbz, alpha, beta, as_operand(x), as_operand(y), as_output(z)});
}

/// The same on `automatic()`.
template <element S, vector_operand X, vector_operand Y, element T, vector_output Z>
  requires transforms::computable<elementwise::axypbz, X, Y, Z> &&
           transforms::factor<S, elementwise::axypbz, X, Y, Z> &&
           transforms::factor<T, elementwise::axypbz, X, Y, Z>
void axypbz(S alpha, const X& x, const Y& y, T beta, Z&& z) {
  axypbz(automatic(), alpha, x, y, beta, z);
}

/// y_i = max(x_i, 0): +0 for -0, NaN for NaN. Real.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::relu, X, X, Y>
void relu(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::relu, {}, {}, as_operand(x), {}, as_output(y)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::relu, X, X, Y>
void relu(const X& x, Y&& y) {
  relu(automatic(), x, y);
}

/// y_i = 1 / (1 + exp(-x_i)), floating-point: at most 1 ulp off in float32 and float64, correctly
/// rounded between 16-bit types; no intermediate overflow.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::sigmoid, X, X, Y>
void sigmoid(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::sigmoid, {}, {}, as_operand(x), {}, as_output(y)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::sigmoid, X, X, Y>
void sigmoid(const X& x, Y&& y) {
  sigmoid(automatic(), x, y);
}

/// y_i = exp(x_i), floating-point, as accurate as `sigmoid`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::exp, X, X, Y>
void exp(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::exp, {}, {}, as_operand(x), {}, as_output(y)});
}

/// The same on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::exp, X, X, Y>
void exp(const X& x, Y&& y) {
  exp(automatic(), x, y);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace transforms {

using for_fill = refusals::arguments<refusals::factor, refusals::output>;
using for_swap = refusals::arguments<refusals::output, refusals::output>;
using for_copy = refusals::arguments<refusals::vector, refusals::output>;
using for_scal = refusals::arguments<refusals::factor, refusals::output>;
using for_axpy = refusals::arguments<refusals::factor, refusals::vector, refusals::output>;
using for_axpby =
    refusals::arguments<refusals::factor, refusals::vector, refusals::factor, refusals::output>;
using for_waxpby = refusals::arguments<refusals::factor, refusals::vector, refusals::factor,
                                       refusals::vector, refusals::output>;
using for_axpbypcz = refusals::arguments<refusals::factor, refusals::vector, refusals::factor,
                                         refusals::vector, refusals::factor, refusals::output>;
using for_add = refusals::arguments<refusals::vector, refusals::vector, refusals::output>;
using for_axypbz = refusals::arguments<refusals::factor, refusals::vector, refusals::vector,
                                       refusals::factor, refusals::output>;

}  // namespace transforms

template <class... T>
  requires refusals::refused<transforms::for_fill, T...>
auto fill(const T&...) {
  return refusals::refuse<transforms::for_fill, T...>();
}

template <class... T>
auto fill(...) {
  static_assert(refusals::never<T...>,
                "fill(value, z) may begin with an executor; numbers that are not integers don't "
                "go into integers, complex ones not into real ones, and only bool into bool; "
                "what is written is not const");
  return 0.0;
}

template <class X, class Y>
  requires refusals::refused<transforms::for_swap, X, Y>
auto swap(const executor&, const X&, const Y&) {
  return refusals::refuse<transforms::for_swap, X, Y>();
}

template <class... T>
auto swap(...) {
  static_assert(refusals::never<T...>,
                "swap(where, x, y) begins with an executor and exchanges vectors of the same "
                "type, neither of them const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto copy(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

template <class... T>
auto copy(...) {
  static_assert(refusals::never<T...>,
                "copy(x, y) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_scal, T...>
auto scal(const T&...) {
  return refusals::refuse<transforms::for_scal, T...>();
}

template <class... T>
auto scal(...) {
  static_assert(refusals::never<T...>,
                "scal(alpha, x) may begin with an executor; a factor is complex only where x is, "
                "and no integer type or bool takes other numbers; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_axpy, T...>
auto axpy(const T&...) {
  return refusals::refuse<transforms::for_axpy, T...>();
}

template <class... T>
auto axpy(...) {
  static_assert(refusals::never<T...>,
                "axpy(alpha, x, y) may begin with an executor; numbers that are not integers "
                "don't go into integers, complex ones not into real ones, and only bool into "
                "bool, whether elements or factors; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_axpby, T...>
auto axpby(const T&...) {
  return refusals::refuse<transforms::for_axpby, T...>();
}

template <class... T>
auto axpby(...) {
  static_assert(refusals::never<T...>,
                "axpby(alpha, x, beta, y) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_waxpby, T...>
auto waxpby(const T&...) {
  return refusals::refuse<transforms::for_waxpby, T...>();
}

template <class... T>
auto waxpby(...) {
  static_assert(refusals::never<T...>,
                "waxpby(alpha, x, beta, y, w) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_axpbypcz, T...>
auto axpbypcz(const T&...) {
  return refusals::refuse<transforms::for_axpbypcz, T...>();
}

template <class... T>
auto axpbypcz(...) {
  static_assert(refusals::never<T...>,
                "axpbypcz(alpha, x, beta, y, gamma, z) may begin with an executor; numbers that "
                "are not integers don't go into integers, complex ones not into real ones, and "
                "only bool into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto add(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

template <class... T>
auto add(...) {
  static_assert(refusals::never<T...>,
                "add(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto sub(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

template <class... T>
auto sub(...) {
  static_assert(refusals::never<T...>,
                "sub(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto mul(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

template <class... T>
auto mul(...) {
  static_assert(refusals::never<T...>,
                "mul(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_axypbz, T...>
auto axypbz(const T&...) {
  return refusals::refuse<transforms::for_axypbz, T...>();
}

template <class... T>
auto axypbz(...) {
  static_assert(refusals::never<T...>,
                "axypbz(alpha, x, y, beta, z) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto relu(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

template <class... T>
auto relu(...) {
  static_assert(refusals::never<T...>,
                "relu(x, y) may begin with an executor; x is not complex, and numbers that are "
                "not integers don't go into integers, complex ones not into real ones, and only "
                "bool into bool; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto sigmoid(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

template <class... T>
auto sigmoid(...) {
  static_assert(refusals::never<T...>,
                "sigmoid(x, y) may begin with an executor; x is not complex and of no integer "
                "type; y holds fractions; what is written is not const");
  return 0.0;
}

template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto exp(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

template <class... T>
auto exp(...) {
  static_assert(refusals::never<T...>,
                "exp(x, y) may begin with an executor; x is not complex and of no integer type; "
                "y holds fractions; what is written is not const");
  return 0.0;
}

// @endcond
}  // namespace tally
