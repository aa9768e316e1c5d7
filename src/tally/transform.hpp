// Element-wise functions, i = 0 ... n-1: fill, copy, swap, scal, axpy, axpby, waxpby, axpbypcz,
// add, sub, mul, axypbz, relu, sigmoid, exp. Names and semantics are BLAS's where BLAS has them;
// inputs come before outputs. (Functions of the caller's own: <tally/transform_function.hpp>.)
//
// Promise: the bits of an element depend on the elements and factors that it is made of and on the
// types alone; they are the same on every executor. Each is computed in one type, operation by
// operation as written below (a product is rounded before it is added), and rounded once to the
// output's type, to nearest even:
//
//   - The computation's type is that of a dot product of the inputs (`dot_result_t`): float64 where
//     one is, float32 for other floating-point types, alone or with integers, int64 for integers,
//     complex where one is. A vector that is updated is an input. exp and sigmoid of 16-bit types
//     are computed in float64.
//   - Integers are computed modulo 2^64, and outputs of integer types are taken modulo 2^bits.
//   - An output may have any type of its kind or a wider kind: integers may become floating-point,
//     real numbers complex. Not the reverse, and only `copy` from bool writes bool: anything else
//     doesn't compile, or is unsupported_type where types are values.
//   - A NaN that is computed is the positive quiet NaN with an empty payload. `copy` between
//     equal types copies bits, of bool 0 for 0 and 1 for any other byte.
//
// Factors (alpha, beta) are converted to the computation's type, to nearest even. A floating-point
// factor needs floating-point elements, a complex one complex elements. A complex factor whose
// imaginary part is zero, before it is converted, multiplies both parts of an element by its real
// part.
//
// A factor of 0 leaves out the vector that it updates, and that one alone: axpby, axpbypcz and
// axypbz never read y or z where their last factor is 0, so the vector may hold anything before, as
// memory that nobody has written yet. The term is left out then, and not added as 0. Everywhere
// else 0 * NaN is NaN, also with `waxpby`, whose y is an input.
//
// Where they run: on the CPU backends a call returns when the output is written. On CUDA it returns
// once the work is queued on the executor's stream, as for the forms of `dot` that write their
// result, and may be captured in a graph.
//
// An output may be one of the inputs: the same address, and as many bytes from one element to the
// next. Otherwise it shares no element with an input.
//
// Errors (tally::error), before anything is written: size_mismatch; null_pointer (with n > 0);
// zero_increment; misaligned; unsupported_type; overlap, if an output shares memory with an input
// in any other way (vectors whose increments keep them apart, as columns of one matrix, may
// interleave); wrong_memory if the executor can't reach an operand; device_failure.
#pragma once

#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/types.hpp>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Which element-wise function.
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

/// A factor, its type erased. The caller's code makes it, and the caller's environment, in which a
/// conversion might flush a subnormal, must not reach it: see `types::widened`.
struct scalar {
  type element = type::float64;      ///< the type that it was made of
  std::int64_t integer = 0;          ///< the value of an integer
  std::complex<double> number = {};  ///< of anything else

  constexpr scalar() = default;
  /// A number of any element type.
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

  /// In the computation's type, rounded as the environment says: the library sets it first.
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

  /// A complex number whose imaginary part is zero is a real one, too.
  constexpr bool is_real() const { return number.imag() == 0; }
  /// Says whether the number is 0, before it is converted.
  constexpr bool is_zero() const { return integer == 0 && number == 0.0; }
};

/// What an element-wise function is asked for, its types erased. Element types are checked at run
/// time.
struct transform_arguments {
  elementwise what = elementwise::copy;  ///< the function
  scalar alpha;                          ///< what is written by fill; the factor of x
  scalar beta;                           ///< the factor of y; of axypbz, that of z
  operand x;                             ///< the first input; not looked at for fill
  operand y;                             ///< the second one, where there are two
  output_operand z;                      ///< the output; axpbypcz and axypbz read it, too
  scalar gamma = {};                     ///< of axpbypcz, the factor of z
};

/// An element-wise function with its types erased: what the templates below call, for bindings.
/// @throws error, see the head of this file.
TALLY_EXPORT void transform(const executor& where, const transform_arguments& arguments);

/// `swap` with its types erased.
/// @throws error, see the head of this file.
TALLY_EXPORT void swap_elements(const executor& where, const output_operand& x,
                                const output_operand& y);

/// `choose` (<tally/dot.hpp>) for three operands.
TALLY_EXPORT executor choose(const operand& x, const operand& y, const operand& z);

namespace transforms {

/// Whether there are two inputs, besides the output.
TALLY_HOST_DEVICE constexpr bool is_binary(elementwise what) {
  return what >= elementwise::axpy && what <= elementwise::axypbz;
}

/// Whether the output is read, too: it is the last input.
TALLY_HOST_DEVICE constexpr bool reads_output(elementwise what) {
  return what == elementwise::axpbypcz || what == elementwise::axypbz;
}

/// Whether it is computed from the exponential function.
TALLY_HOST_DEVICE constexpr bool is_exponential(elementwise what) {
  return what == elementwise::sigmoid || what == elementwise::exp;
}

/// How many factors there are: alpha, beta, gamma.
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

/// Whether it takes elements of this type.
constexpr bool takes(elementwise what, type x) {
  if (what <= elementwise::axypbz) return true;
  return !is_complex(x) && (what == elementwise::relu || !is_integer(x));
}

/// What it is computed in. With one input, y is x; z counts where it is read. (bool makes no
/// difference.) fill has its value's type as x.
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

/// Whether what is computed in `c` from x and y can be written as `z`.
constexpr bool gives(elementwise what, type x, type y, type z) {
  if (z == type::boolean) return what <= elementwise::copy && x == z;
  const type c = computation_type(what, x, y, z);
  return is_complex(z) || (!is_complex(c) && (!is_integer(z) || is_integer(c)));
}

/// Whether a factor of type `s` can be converted to `c`.
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

/// z_i = value, rounded once to the type of z; any NaN is the positive quiet one with an empty
/// payload. Only a bool fills bools.
///
/// @param where  the executor.
/// @param value  a number of any element type that z's elements can be made of, as `copy` has it.
/// @param z      a vector of n elements that can be written.
/// @throws error see the head of this file.
template <element S, vector_output Z>
  requires(transforms::gives(elementwise::fill, type_of<S>, type_of<S>,
                             type_of<element_t<std::remove_cvref_t<Z>>>))
void fill(const executor& where, S value, Z&& z) {
  transform(where, {elementwise::fill, value, {}, {}, {}, as_output(z)});
}

/// As above, on `automatic()`.
template <element S, vector_output Z>
  requires(transforms::gives(elementwise::fill, type_of<S>, type_of<S>,
                             type_of<element_t<std::remove_cvref_t<Z>>>))
void fill(S value, Z&& z) {
  fill(automatic(), value, z);
}

/// Exchanges the elements of two vectors of one type, bit by bit (BLAS `swap`); the vectors share
/// no element. There is no form without an executor, since unqualified calls that exchange two
/// views would find it.
///
/// @param where  the executor.
/// @param x,y    vectors of n elements that can be written.
/// @throws error see the head of this file.
template <vector_output X, vector_output Y>
  requires std::is_same_v<element_t<std::remove_cvref_t<X>>, element_t<std::remove_cvref_t<Y>>>
void swap(const executor& where, X&& x, Y&& y) {
  swap_elements(where, as_output(x), as_output(y));
}

/// y_i = x_i (BLAS `copy`).
///
/// @param where  the executor.
/// @param x      a vector of n elements of any of the element types: a contiguous range, a
///               `tally::strided`, or a rank-1 `Kokkos::View`.
/// @param y      one of n elements that can be written.
/// @throws error see the head of this file.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::copy, X, X, Y>
void copy(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::copy, {}, {}, as_operand(x), {}, as_output(y)});
}

/// As above, on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::copy, X, X, Y>
void copy(const X& x, Y&& y) {
  copy(automatic(), x, y);
}

/// x_i = alpha * x_i (BLAS `scal`).
template <element S, vector_output X>
  requires transforms::computable<elementwise::scal, X, X, X> &&
           transforms::factor<S, elementwise::scal, X, X, X>
void scal(const executor& where, S alpha, X&& x) {
  transform(where, {elementwise::scal, alpha, {}, as_operand(x), {}, as_output(x)});
}

/// As above, on `automatic()`.
template <element S, vector_output X>
  requires transforms::computable<elementwise::scal, X, X, X> &&
           transforms::factor<S, elementwise::scal, X, X, X>
void scal(S alpha, X&& x) {
  scal(automatic(), alpha, x);
}

/// y_i = alpha * x_i + y_i (BLAS `axpy`).
template <element S, vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::axpy, X, Y, Y> &&
           transforms::factor<S, elementwise::axpy, X, Y, Y>
void axpy(const executor& where, S alpha, const X& x, Y&& y) {
  transform(where, {elementwise::axpy, alpha, {}, as_operand(x), as_operand(y), as_output(y)});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::axpy, X, Y, Y> &&
           transforms::factor<S, elementwise::axpy, X, Y, Y>
void axpy(S alpha, const X& x, Y&& y) {
  axpy(automatic(), alpha, x, y);
}

/// y_i = alpha * x_i + beta * y_i; y is not read where beta is 0.
template <element S, vector_operand X, element T, vector_output Y>
  requires transforms::computable<elementwise::axpby, X, Y, Y> &&
           transforms::factor<S, elementwise::axpby, X, Y, Y> &&
           transforms::factor<T, elementwise::axpby, X, Y, Y>
void axpby(const executor& where, S alpha, const X& x, T beta, Y&& y) {
  transform(where, {elementwise::axpby, alpha, beta, as_operand(x), as_operand(y), as_output(y)});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, element T, vector_output Y>
  requires transforms::computable<elementwise::axpby, X, Y, Y> &&
           transforms::factor<S, elementwise::axpby, X, Y, Y> &&
           transforms::factor<T, elementwise::axpby, X, Y, Y>
void axpby(S alpha, const X& x, T beta, Y&& y) {
  axpby(automatic(), alpha, x, beta, y);
}

/// w_i = alpha * x_i + beta * y_i. Both x and y are inputs, and are read whatever the factors are.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires transforms::computable<elementwise::waxpby, X, Y, W> &&
           transforms::factor<S, elementwise::waxpby, X, Y, W> &&
           transforms::factor<T, elementwise::waxpby, X, Y, W>
void waxpby(const executor& where, S alpha, const X& x, T beta, const Y& y, W&& w) {
  transform(where, {elementwise::waxpby, alpha, beta, as_operand(x), as_operand(y), as_output(w)});
}

/// As above, on `automatic()`.
template <element S, vector_operand X, element T, vector_operand Y, vector_output W>
  requires transforms::computable<elementwise::waxpby, X, Y, W> &&
           transforms::factor<S, elementwise::waxpby, X, Y, W> &&
           transforms::factor<T, elementwise::waxpby, X, Y, W>
void waxpby(S alpha, const X& x, T beta, const Y& y, W&& w) {
  waxpby(automatic(), alpha, x, beta, y, w);
}

/// z_i = (alpha * x_i + beta * y_i) + gamma * z_i; z is not read where gamma is 0.
template <element S, vector_operand X, element T, vector_operand Y, element U, vector_output Z>
  requires transforms::computable<elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<S, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<T, elementwise::axpbypcz, X, Y, Z> &&
           transforms::factor<U, elementwise::axpbypcz, X, Y, Z>
void axpbypcz(const executor& where, S alpha, const X& x, T beta, const Y& y, U gamma, Z&& z) {
  transform(where, {elementwise::axpbypcz, alpha, beta, as_operand(x), as_operand(y), as_output(z),
                    gamma});
}

/// As above, on `automatic()`.
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

/// As above, on `automatic()`.
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

/// As above, on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::sub, X, Y, Z>
void sub(const X& x, const Y& y, Z&& z) {
  sub(automatic(), x, y, z);
}

/// z_i = x_i * y_i, of complex elements (xr yr - xi yi) + (xr yi + xi yr) i; a real one beside a
/// complex one has the imaginary part +0.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::mul, X, Y, Z>
void mul(const executor& where, const X& x, const Y& y, Z&& z) {
  transform(where, {elementwise::mul, {}, {}, as_operand(x), as_operand(y), as_output(z)});
}

/// As above, on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z>
  requires transforms::computable<elementwise::mul, X, Y, Z>
void mul(const X& x, const Y& y, Z&& z) {
  mul(automatic(), x, y, z);
}

/// z_i = (alpha * x_i) * y_i + beta * z_i, with the products of `mul`; z is not read where beta is
/// 0.
template <element S, vector_operand X, vector_operand Y, element T, vector_output Z>
  requires transforms::computable<elementwise::axypbz, X, Y, Z> &&
           transforms::factor<S, elementwise::axypbz, X, Y, Z> &&
           transforms::factor<T, elementwise::axypbz, X, Y, Z>
void axypbz(const executor& where, S alpha, const X& x, const Y& y, T beta, Z&& z) {
  transform(where, {elementwise::axypbz, alpha, beta, as_operand(x), as_operand(y), as_output(z)});
}

/// As above, on `automatic()`.
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

/// As above, on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::relu, X, X, Y>
void relu(const X& x, Y&& y) {
  relu(automatic(), x, y);
}

/// y_i = 1 / (1 + exp(-x_i)), the logistic function, of floating-point elements. At most 1 unit in
/// the last place off in float32 and float64, correctly rounded from 16-bit types to such; nothing
/// overflows on the way.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::sigmoid, X, X, Y>
void sigmoid(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::sigmoid, {}, {}, as_operand(x), {}, as_output(y)});
}

/// As above, on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::sigmoid, X, X, Y>
void sigmoid(const X& x, Y&& y) {
  sigmoid(automatic(), x, y);
}

/// y_i = exp(x_i), of floating-point elements; as precise as `sigmoid`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::exp, X, X, Y>
void exp(const executor& where, const X& x, Y&& y) {
  transform(where, {elementwise::exp, {}, {}, as_operand(x), {}, as_output(y)});
}

/// As above, on `automatic()`.
template <vector_operand X, vector_output Y>
  requires transforms::computable<elementwise::exp, X, X, Y>
void exp(const X& x, Y&& y) {
  exp(automatic(), x, y);
}

// --- What is no operand ---------------------------------------------------------------------------

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

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_fill, T...>
auto fill(const T&...) {
  return refusals::refuse<transforms::for_fill, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto fill(...) {
  static_assert(refusals::never<T...>,
                "fill(value, z) may begin with an executor; numbers that are not integers don't "
                "go into integers, complex ones not into real ones, and only bool into bool; "
                "what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class X, class Y>
  requires refusals::refused<transforms::for_swap, X, Y>
auto swap(const executor&, const X&, const Y&) {
  return refusals::refuse<transforms::for_swap, X, Y>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto swap(...) {
  static_assert(refusals::never<T...>,
                "swap(where, x, y) begins with an executor and exchanges vectors of the same "
                "type, neither of them const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto copy(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto copy(...) {
  static_assert(refusals::never<T...>,
                "copy(x, y) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_scal, T...>
auto scal(const T&...) {
  return refusals::refuse<transforms::for_scal, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto scal(...) {
  static_assert(refusals::never<T...>,
                "scal(alpha, x) may begin with an executor; a factor is complex only where x is, "
                "and no integer type or bool takes other numbers; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_axpy, T...>
auto axpy(const T&...) {
  return refusals::refuse<transforms::for_axpy, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axpy(...) {
  static_assert(refusals::never<T...>,
                "axpy(alpha, x, y) may begin with an executor; numbers that are not integers "
                "don't go into integers, complex ones not into real ones, and only bool into "
                "bool, whether elements or factors; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_axpby, T...>
auto axpby(const T&...) {
  return refusals::refuse<transforms::for_axpby, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axpby(...) {
  static_assert(refusals::never<T...>,
                "axpby(alpha, x, beta, y) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_waxpby, T...>
auto waxpby(const T&...) {
  return refusals::refuse<transforms::for_waxpby, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto waxpby(...) {
  static_assert(refusals::never<T...>,
                "waxpby(alpha, x, beta, y, w) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_axpbypcz, T...>
auto axpbypcz(const T&...) {
  return refusals::refuse<transforms::for_axpbypcz, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axpbypcz(...) {
  static_assert(refusals::never<T...>,
                "axpbypcz(alpha, x, beta, y, gamma, z) may begin with an executor; numbers that "
                "are not integers don't go into integers, complex ones not into real ones, and "
                "only bool into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto add(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto add(...) {
  static_assert(refusals::never<T...>,
                "add(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto sub(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto sub(...) {
  static_assert(refusals::never<T...>,
                "sub(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_add, T...>
auto mul(const T&...) {
  return refusals::refuse<transforms::for_add, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto mul(...) {
  static_assert(refusals::never<T...>,
                "mul(x, y, z) may begin with an executor; numbers that are not integers don't go "
                "into integers, complex ones not into real ones, and only bool into bool; what "
                "is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_axypbz, T...>
auto axypbz(const T&...) {
  return refusals::refuse<transforms::for_axypbz, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto axypbz(...) {
  static_assert(refusals::never<T...>,
                "axypbz(alpha, x, y, beta, z) may begin with an executor; numbers that are not "
                "integers don't go into integers, complex ones not into real ones, and only bool "
                "into bool, whether elements or factors; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto relu(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto relu(...) {
  static_assert(refusals::never<T...>,
                "relu(x, y) may begin with an executor; x is not complex, and numbers that are "
                "not integers don't go into integers, complex ones not into real ones, and only "
                "bool into bool; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto sigmoid(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto sigmoid(...) {
  static_assert(refusals::never<T...>,
                "sigmoid(x, y) may begin with an executor; x is not complex and of no integer "
                "type; y holds fractions; what is written is not const");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transforms::for_copy, T...>
auto exp(const T&...) {
  return refusals::refuse<transforms::for_copy, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto exp(...) {
  static_assert(refusals::never<T...>,
                "exp(x, y) may begin with an executor; x is not complex and of no integer type; "
                "y holds fractions; what is written is not const");
  return 0.0;
}

}  // namespace tally
