// Element-wise functions of one element, and conversions to and from the computation's type.
#pragma once

#include "backends/common/elementwise/exponential.hpp"
#include "backends/common/order/dot_sum.hpp"

#include <tally/operations/elementwise.hpp>

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace tally::backends {

using detail::complex_number;

// --- Conversions ---------------------------------------------------------------------------------

/// Rounds to odd: rounding to fewer digits then equals rounding `value`.
TALLY_HOST_DEVICE constexpr float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  auto bits = __builtin_bit_cast(std::uint32_t, nearest);
  if (value < 0 ? back < value : back > value) --bits;
  return __builtin_bit_cast(float, bits | 1u);
}

/// Rounds to odd at 48 bits, exact in a double.
constexpr TALLY_HOST_DEVICE double round_to_odd(std::int64_t value) {
  constexpr std::int64_t low = 0xffff;
  if (value >= -(std::int64_t{1} << 48) && value <= std::int64_t{1} << 48) {
    return static_cast<double>(value);
  }
  return static_cast<double>((value & ~low) | (value & low ? low + 1 : 0));
}

/// Rounded once to nearest even; integers modulo 2^bits.
template <class To, class From>
TALLY_HOST_DEVICE constexpr To rounded(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>) {
    if constexpr (std::is_same_v<From, std::int64_t>) {
      return To(round_to_odd(round_to_odd(value)));
    } else if constexpr (std::is_same_v<From, double>) {
      return To(round_to_odd(value));
    } else {
      return To(static_cast<float>(value));
    }
  } else if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Bits of an element; for bool 0 or 1.
template <class T>
TALLY_HOST_DEVICE constexpr T copied(T element) {
  if constexpr (std::is_same_v<T, detail::bool8>) {
    return {static_cast<std::uint8_t>(element.byte != 0)};
  } else {
    return element;
  }
}

/// Whether operands and results are converted this way.
template <class C, class X>
inline constexpr bool can_enter =
    is_complex_v<C> ? std::is_floating_point_v<real_t<C>>
                    : !is_complex_v<X> && (!std::is_integral_v<C> || std::is_integral_v<X>);

template <class T>
struct is_number : std::bool_constant<!std::is_same_v<T, bool>> {};

/// Real types of results; bool is only copied.
using number_types = detail::those<real_types, is_number>;

// --- Functions -----------------------------------------------------------------------------------

template <class C>
struct computed {
  using type = C;
};
template <class R>
struct computed<std::complex<R>> {
  using type = complex_number<R>;
};
template <class C>
using computed_t = typename computed<C>::type;

template <class R>
TALLY_HOST_DEVICE complex_number<R> product(complex_number<R> a, complex_number<R> b) {
  return {product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)};
}
template <class R>
TALLY_HOST_DEVICE complex_number<R> plus(complex_number<R> a, complex_number<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
TALLY_HOST_DEVICE constexpr complex_number<R> canonical(complex_number<R> value) {
  return {canonical(value.re), canonical(value.im)};
}

/// A real factor, as the caller's value decides before rounding, multiplies both parts.
template <class R>
struct complex_factor {
  complex_number<R> value;
  bool is_real;
};

template <class V>
struct factor_of {
  using type = V;
};
template <class R>
struct factor_of<complex_number<R>> {
  using type = complex_factor<R>;
};

template <class R>
TALLY_HOST_DEVICE R scaled(R factor, R x) {
  return product(factor, x);
}
template <class R>
TALLY_HOST_DEVICE complex_number<R> scaled(const complex_factor<R>& factor, complex_number<R> x) {
  const R re = factor.value.re;
  if (factor.is_real) return {product(re, x.re), product(re, x.im)};
  return product(factor.value, x);
}

template <class V>
struct factors {
  using factor = typename factor_of<V>::type;
  factor alpha, beta;

  template <class C>
  static factor of(const scalar& s) {
    if constexpr (is_complex_v<C>) {
      const C value = s.as<C>();
      return {{value.real(), value.imag()}, s.is_real()};
    } else {
      return s.as<C>();
    }
  }
  template <class C>
  static factors of(const scalar& alpha, const scalar& beta) {
    return {of<C>(alpha), of<C>(beta)};
  }
};

template <class V>
struct three_factors : factors<V> {
  typename factors<V>::factor gamma;

  template <class C>
  static three_factors of(const transform_arguments& a) {
    return {factors<V>::template of<C>(a.alpha, a.beta), factors<V>::template of<C>(a.gamma)};
  }
};

/// A third one only if needed.
template <elementwise what, class V>
using factors_for = std::conditional_t<detail::factors(what) == 3, three_factors<V>, factors<V>>;

/// Whether backends implement the function for numbers of V's kind; see `backend::transform`.
template <elementwise what, class V>
inline constexpr bool has_function = [] {
  constexpr type kind = std::is_integral_v<V>         ? type::int64
                        : std::is_floating_point_v<V> ? type::float64
                                                      : type::complex128;
  switch (what) {
    case elementwise::fill:
    case elementwise::axpy:
    case elementwise::waxpby:
    case elementwise::add:
    case elementwise::sub:
      return false;
    default:
      return detail::takes(what, kind);
  }
}();

/// The new z_i; `z` is the old one, if read.
template <elementwise what, class V>
TALLY_HOST_DEVICE V function(const factors_for<what, V>& f, V x, V y, V z = {}) {
  static_assert(has_function<what, V>);
  if constexpr (what == elementwise::copy) {
    return canonical(x);
  } else if constexpr (what == elementwise::scal) {
    return canonical(scaled(f.alpha, x));
  } else if constexpr (what == elementwise::axpby) {
    return canonical(plus(scaled(f.alpha, x), scaled(f.beta, y)));
  } else if constexpr (what == elementwise::mul) {
    return canonical(product(scaled(f.alpha, x), y));
  } else if constexpr (what == elementwise::axpbypcz) {
    return canonical(plus(plus(scaled(f.alpha, x), scaled(f.beta, y)), scaled(f.gamma, z)));
  } else if constexpr (what == elementwise::axypbz) {
    return canonical(plus(product(scaled(f.alpha, x), y), scaled(f.beta, z)));
  } else {
    return of_one<what, number_arithmetic<V>>(x);
  }
}

/// exp or sigmoid of a 16-bit number before narrowing. Narrowing is correctly rounded for all
/// bfloat16 and for all but nine float16 numbers near 0, where the formula is half way between two
/// numbers and the exact result on the side of exp(0) or sigmoid(0).
template <elementwise what, class T>
TALLY_HOST_DEVICE float to_be_narrowed(float x, float result) {
  if constexpr (std::is_same_v<T, float16>) {
    const auto bits = __builtin_bit_cast(std::uint32_t, result);
    if ((bits & 0x1fffu) == 0x1000u && x < 0x1p-5f && x > -0x1p-5f) {
      return __builtin_bit_cast(float, x < 0 ? bits + 1 : bits - 1);
    }
  }
  return result;
}

template <class V, class F>
void with_function(elementwise what, F&& f) {
  const auto one = [&]<elementwise candidate>() {
    if constexpr (has_function<candidate, V>) {
      if (what == candidate) f.template operator()<candidate>();
    }
  };
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    (one.template operator()<static_cast<elementwise>(n)>(), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(last_elementwise) + 1>());
}

}  // namespace tally::backends
