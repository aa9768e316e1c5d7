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
#include <tally/detail/elementwise_call.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <concepts>
#include <cstddef>

namespace tally {

namespace detail {

struct swap_call : call<> {
  template <class X, class Y>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_output<X>, wrong_output<Y>>;
    if constexpr (why == wrong::nothing) {
      return unless(std::same_as<element_t<X>, element_t<Y>>, wrong::the_vectors_are_of_one_type);
    } else {
      return why;
    }
  }
};

}  // namespace detail

/// fill(value, z): z_i = value, rounded once to z's type; a NaN becomes the positive quiet one with
/// an empty payload. The value is a number of any element type; otherwise types as for `copy`.
template <class... A>
  requires detail::computes<elementwise::fill, A...>
void fill(A&&... arguments) {
  detail::call_elementwise<elementwise::fill>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::fill, A...>>
  requires detail::refused<why, A...>
void fill(A&&...) = delete;  // [where,] value, z

/// Exchanges two vectors of one type that share no element, bit by bit (BLAS `swap`). No form
/// without an executor, or unqualified swap(a, b) of two views would find it.
template <class X, class Y>
  requires detail::taken<detail::swap_call, X, Y>
void swap(const executor& where, X&& x, Y&& y) {
  using T = element_t<X>;
  if constexpr (std::floating_point<T>) {
    const auto short_way = [](const auto& kernels, std::size_t n, T* px, T* py) {
      if (px == py || !detail::is_same_or_apart(px, py, n)) return false;
      kernels.swap(px, py, n);
      return true;
    };
    if (detail::with_level_one<T>(where, short_way, x, y)) return;
  }
  swap_elements(where, as_output(x), as_output(y));
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::swap_call, T...>>
  requires(detail::is_placed<T...> && detail::refused<why, T...>)
void swap(T&&...) = delete;  // where, x, y

/// No form without an executor.
void swap(...) = delete;  // where, x, y

/// copy(x, y): y_i = x_i (BLAS `copy`), of any element types (`vector_operand`, `vector_output`).
template <class... A>
  requires detail::computes<elementwise::copy, A...>
void copy(A&&... arguments) {
  detail::call_elementwise<elementwise::copy>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::copy, A...>>
  requires detail::refused<why, A...>
void copy(A&&...) = delete;  // [where,] x, y

/// scal(alpha, x): x_i = alpha*x_i (BLAS `scal`).
template <class... A>
  requires detail::computes<elementwise::scal, A...>
void scal(A&&... arguments) {
  detail::call_elementwise<elementwise::scal>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::scal, A...>>
  requires detail::refused<why, A...>
void scal(A&&...) = delete;  // [where,] alpha, x

/// axpy(alpha, x, y): y_i = alpha*x_i + y_i (BLAS `axpy`).
template <class... A>
  requires detail::computes<elementwise::axpy, A...>
void axpy(A&&... arguments) {
  detail::call_elementwise<elementwise::axpy>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::axpy, A...>>
  requires detail::refused<why, A...>
void axpy(A&&...) = delete;  // [where,] alpha, x, y

/// axpby(alpha, x, beta, y): y_i = alpha*x_i + beta*y_i; y is not read where beta is 0.
template <class... A>
  requires detail::computes<elementwise::axpby, A...>
void axpby(A&&... arguments) {
  detail::call_elementwise<elementwise::axpby>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::axpby, A...>>
  requires detail::refused<why, A...>
void axpby(A&&...) = delete;  // [where,] alpha, x, beta, y

/// waxpby(alpha, x, beta, y, w): w_i = alpha*x_i + beta*y_i; x and y are always read.
template <class... A>
  requires detail::computes<elementwise::waxpby, A...>
void waxpby(A&&... arguments) {
  detail::call_elementwise<elementwise::waxpby>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::waxpby, A...>>
  requires detail::refused<why, A...>
void waxpby(A&&...) = delete;  // [where,] alpha, x, beta, y, w

/// axpbypcz(alpha, x, beta, y, gamma, z): z_i = (alpha*x_i + beta*y_i) + gamma*z_i; z is not read
/// where gamma is 0.
template <class... A>
  requires detail::computes<elementwise::axpbypcz, A...>
void axpbypcz(A&&... arguments) {
  detail::call_elementwise<elementwise::axpbypcz>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::axpbypcz, A...>>
  requires detail::refused<why, A...>
void axpbypcz(A&&...) = delete;  // [where,] alpha, x, beta, y, gamma, z

/// add(x, y, z): z_i = x_i + y_i.
template <class... A>
  requires detail::computes<elementwise::add, A...>
void add(A&&... arguments) {
  detail::call_elementwise<elementwise::add>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::add, A...>>
  requires detail::refused<why, A...>
void add(A&&...) = delete;  // [where,] x, y, z

/// sub(x, y, z): z_i = x_i - y_i.
template <class... A>
  requires detail::computes<elementwise::sub, A...>
void sub(A&&... arguments) {
  detail::call_elementwise<elementwise::sub>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::sub, A...>>
  requires detail::refused<why, A...>
void sub(A&&...) = delete;  // [where,] x, y, z

/// mul(x, y, z): z_i = x_i*y_i; complex (xr yr - xi yi) + (xr yi + xi yr) i, a real factor's
/// imaginary part being +0.
template <class... A>
  requires detail::computes<elementwise::mul, A...>
void mul(A&&... arguments) {
  detail::call_elementwise<elementwise::mul>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::mul, A...>>
  requires detail::refused<why, A...>
void mul(A&&...) = delete;  // [where,] x, y, z

/// axypbz(alpha, x, y, beta, z): z_i = (alpha*x_i)*y_i + beta*z_i, products as of `mul`; z is not
/// read where beta is 0.
template <class... A>
  requires detail::computes<elementwise::axypbz, A...>
void axypbz(A&&... arguments) {
  detail::call_elementwise<elementwise::axypbz>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::axypbz, A...>>
  requires detail::refused<why, A...>
void axypbz(A&&...) = delete;  // [where,] alpha, x, y, beta, z

/// relu(x, y): y_i = max(x_i, 0): +0 for -0, NaN for NaN. Real.
template <class... A>
  requires detail::computes<elementwise::relu, A...>
void relu(A&&... arguments) {
  detail::call_elementwise<elementwise::relu>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::relu, A...>>
  requires detail::refused<why, A...>
void relu(A&&...) = delete;  // [where,] x, y

/// sigmoid(x, y): y_i = 1 / (1 + exp(-x_i)), floating-point: at most 1 ulp off in float32 and
/// float64, correctly rounded between 16-bit types; no intermediate overflow.
template <class... A>
  requires detail::computes<elementwise::sigmoid, A...>
void sigmoid(A&&... arguments) {
  detail::call_elementwise<elementwise::sigmoid>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::sigmoid, A...>>
  requires detail::refused<why, A...>
void sigmoid(A&&...) = delete;  // [where,] x, y

/// exp(x, y): y_i = exp(x_i), floating-point, as accurate as `sigmoid`.
template <class... A>
  requires detail::computes<elementwise::exp, A...>
void exp(A&&... arguments) {
  detail::call_elementwise<elementwise::exp>(arguments...);
}

/// Refused, by `why`.
template <class... A, detail::wrong why = detail::wrong_elementwise<elementwise::exp, A...>>
  requires detail::refused<why, A...>
void exp(A&&...) = delete;  // [where,] x, y

}  // namespace tally
