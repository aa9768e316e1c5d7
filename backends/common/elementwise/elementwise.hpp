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

/// x / y by Smith's formula: no overflow of |y|^2.
template <class R>
TALLY_HOST_DEVICE complex_number<R> quotient(complex_number<R> x, complex_number<R> y) {
  if (std::fabs(y.re) >= std::fabs(y.im)) {
    const R ratio = y.im / y.re, d = y.re + product(y.im, ratio);
    return {(x.re + product(x.im, ratio)) / d, (x.im - product(x.re, ratio)) / d};
  }
  const R ratio = y.re / y.im, d = product(y.re, ratio) + y.im;
  return {(product(x.re, ratio) + x.im) / d, (product(x.im, ratio) - x.re) / d};
}

/// Powers of two by which `modulus` multiplies large and small parts, and divides the root.
template <class R>
struct modulus_range;
template <>
struct modulus_range<float> {
  static constexpr float max = std::numeric_limits<float>::max();
  static constexpr float large = 0x1p60f, down = 0x1p-80f, small = 0x1p-40f, up = 0x1p100f;
};
template <>
struct modulus_range<double> {
  static constexpr double max = std::numeric_limits<double>::max();
  static constexpr double large = 0x1p500, down = 0x1p-600, small = 0x1p-500, up = 0x1p700;
};

/// Returns sqrt(re^2 + im^2); infinite if a part is, NaN or not.
template <class R>
TALLY_HOST_DEVICE R modulus(complex_number<R> x) {
  using range = modulus_range<R>;
  const R re = std::fabs(x.re), im = std::fabs(x.im);
  if (re > range::max) return re;
  if (im > range::max) return im;
  const R larger = re > im ? re : im;
  const R factor = larger >= range::large ? range::down : larger < range::small ? range::up : R{1};
  const R p = product(re, factor), q = product(im, factor);
  const R root = std::sqrt(product(p, p) + product(q, q));
  const R back = larger >= range::large  ? 1 / range::down
                 : larger < range::small ? 1 / range::up
                                         : R{1};
  return product(root, back);
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
    case elementwise::scale:
      return false;
    default:
      return detail::takes(what, kind);
  }
}();

/// A short function of complex numbers; `abs` has the modulus as its real part.
template <elementwise what, class R>
TALLY_HOST_DEVICE complex_number<R> of_complex(const factors<complex_number<R>>& f,
                                               complex_number<R> x,
                                               [[maybe_unused]] complex_number<R> y,
                                               [[maybe_unused]] complex_number<R> w) {
  [[maybe_unused]] constexpr complex_number<R> one = {1, 0};
  if constexpr (what == elementwise::inv) {
    return quotient(one, x);
  } else if constexpr (what == elementwise::abs) {
    return {modulus(x), R{0}};
  } else if constexpr (what == elementwise::add_constant) {
    return f.alpha.is_real ? complex_number<R>{x.re + f.alpha.value.re, x.im}
                           : plus(x, f.alpha.value);
  } else if constexpr (what == elementwise::pow) {
    const int n = static_cast<int>(f.alpha.value.re);
    complex_number<R> result = one, square = x;
    bool is_one = true;
    for (unsigned digits = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
         digits > 0; digits >>= 1) {
      if (digits & 1) result = is_one ? square : product(result, square), is_one = false;
      if (digits > 1) square = product(square, square);
    }
    return n < 0 ? quotient(one, result) : result;
  } else if constexpr (what == elementwise::div) {
    return quotient(x, y);
  } else if constexpr (what == elementwise::where) {
    return x.re == 0 ? w : y;
  } else {
    static_assert(what == elementwise::jacobi_step);
    return plus(x, quotient(scaled(f.alpha, y), w));
  }
}

/// The new z_i; `z` is the old one, if read, or the element of w.
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
  } else if constexpr (detail::is_short(what)) {
    if constexpr (std::is_arithmetic_v<V>) {
      return of_some<what, number_arithmetic<V>>(f, x, y, z);
    } else {
      return canonical(of_complex<what>(f, x, y, z));
    }
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

/// The third vector that is read.
inline operand third_of(const transform_arguments& a) {
  return detail::reads_output(a.what) ? operand(a.z) : a.w;
}

/// Calls f for the function `what`, unless it is one that shares kernels and `shared`.
template <class V, bool shared = false, class F>
void with_function(elementwise what, F&& f) {
  const auto one = [&]<elementwise candidate>() {
    if constexpr (has_function<candidate, V> && !(shared && detail::is_short(candidate))) {
      if (what == candidate) f.template operator()<candidate>();
    }
  };
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    (one.template operator()<static_cast<elementwise>(n)>(), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(last_elementwise) + 1>());
}

template <elementwise what>
inline constexpr int inputs_of = detail::inputs(what);

/// Calls f for the short function `what` of `inputs` vectors, known at run time: kernels have all.
template <int inputs, class V, class F>
TALLY_HOST_DEVICE void with_short_function(elementwise what, const F& f) {
  const auto one = [&]<elementwise candidate>() {
    if constexpr (inputs_of<candidate> == inputs && has_function<candidate, V>) {
      if (what == candidate) f.template operator()<candidate>();
    }
  };
  constexpr auto first = static_cast<std::size_t>(elementwise::inv);
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    (one.template operator()<static_cast<elementwise>(first + n)>(), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(last_elementwise) + 1 - first>());
}

template <int inputs, class V>
TALLY_HOST_DEVICE V short_function(elementwise what, const factors<V>& f, V x, V y = {}, V w = {}) {
  V result{};
  with_short_function<inputs, V>(
      what, [&]<elementwise each>() { result = function<each, V>(f, x, y, w); });
  return result;
}

/// Returns f for the number of inputs of a short function.
template <class F>
decltype(auto) with_inputs(elementwise what, const F& f) {
  if (detail::is_ternary(what)) return f.template operator()<3>();
  return detail::is_binary(what) ? f.template operator()<2>() : f.template operator()<1>();
}

}  // namespace tally::backends
