#include "tests/elementwise_transcription.hpp"

#include "tests/data.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace transcription {

namespace {

template <class R>
R without_payload(R value) {
  if constexpr (std::is_floating_point_v<R>) {
    return std::isnan(value) ? std::numeric_limits<R>::quiet_NaN() : value;
  } else {
    return value;
  }
}

/// Rounds to a binary format of this many digits, to nearest even.
long double to_digits(long double value, int digits, int min_exponent, int max_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const int quantum = std::max(exponent, min_exponent) - digits;
  const long double r = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::abs(r) >= std::ldexp(1.0L, max_exponent)
             ? std::copysign(std::numeric_limits<long double>::infinity(), value)
             : r;
}

template <class Z, class C>
Z rounded(C value) {
  if constexpr (std::is_same_v<Z, tally::float16>) {
    return Z(static_cast<float>(without_payload(to_digits(value, 11, -13, 16))));
  } else if constexpr (std::is_same_v<Z, tally::bfloat16>) {
    return Z(static_cast<float>(without_payload(to_digits(value, 8, -125, 128))));
  } else {
    return without_payload(static_cast<Z>(value));
  }
}

template <class C>
C get(const elements& v, std::size_t i) {
  C result{};
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> != v.element) return;
    T value;
    std::memcpy(&value, v.bytes.data() + i * sizeof(T), sizeof(T));
    using R = tally::real_t<C>;
    const auto number = [](auto part) {
      if constexpr (std::is_class_v<decltype(part)>) {  // 16-bit types
        return static_cast<R>(static_cast<float>(part));
      } else {
        return static_cast<R>(part);
      }
    };
    if constexpr (tally::is_complex_v<T>) {
      if constexpr (tally::is_complex_v<C>) result = C(number(value.real()), number(value.imag()));
    } else {
      result = C(number(value));
    }
  });
  return result;
}

template <class C>
void put(C value, std::vector<std::byte>& to, tally::type element, std::size_t i) {
  data::for_each_type([&]<class Z>(std::type_identity<Z>) {
    if (tally::type_of<Z> != element) return;
    using R = tally::real_t<Z>;
    Z result{};
    if constexpr (tally::is_complex_v<C>) {
      if constexpr (tally::is_complex_v<Z>) {
        result = Z(rounded<R>(value.real()), rounded<R>(value.imag()));
      } else {  // of abs
        result = rounded<Z>(value.real());
      }
    } else if constexpr (tally::is_complex_v<Z>) {
      result = Z(rounded<R>(value), R(0));
    } else {
      result = rounded<Z>(value);
    }
    std::memcpy(to.data() + i * sizeof(Z), &result, sizeof(Z));
  });
}

// --- exp and sigmoid -----------------------------------------------------------------------------

template <class R>
struct constants;
template <>
struct constants<float> {
  static constexpr float log2_e = 0x1.715476p+0f, ln2 = 0x1.62e4p-1f, ln2_left = 0x1.7f7d1cp-20f;
  static constexpr float lowest = -104, highest = 89;
  static constexpr float q[] = {0x1p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b6cp-7f,
                                0x1.6db448p-10f};
};
template <>
struct constants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa38p-1,
                          ln2_left = 0x1.ef35793c7673p-45;
  static constexpr double lowest = -746, highest = 710;
  static constexpr double q[] = {
      0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.5555555550017p-5,  0x1.111111110d62ap-7,
      0x1.6c16c185ad03ep-10, 0x1.a01a01bae7705p-13, 0x1.a0199683e6f2bp-16, 0x1.71dddfc05c531p-19,
      0x1.28b0581d3921ap-22, 0x1.af8599e3f47e7p-26};
};

/// exp(x) = 2^k (head + left).
template <class R>
struct parts {
  R head, left;
  int k;
};

template <class R>
parts<R> reduced(R x) {
  using c = constants<R>;
  // One rounding, to an integer: the large addend leaves no room for a fraction.
  constexpr R much = std::is_same_v<R, float> ? R(0x1.8p23) : R(0x1.8p52);
  const R k = std::fma(x, c::log2_e, much) - much;
  const R large = std::fma(-k, c::ln2, x), small = -k * c::ln2_left;
  const R r = large + small, square = r * r;
  R q = 0;
  constexpr int terms = static_cast<int>(std::size(c::q));
  for (int i = (terms - 1) / 2 * 2; i >= 0; i -= 2) {  // pairs of terms, the last maybe alone
    const R pair = i + 1 < terms ? std::fma(c::q[i + 1], r, c::q[i]) : c::q[i];
    q = i + 2 < terms ? std::fma(q, square, pair) : pair;
  }
  const R head = 1 + large;
  return {head, (large - (head - 1)) + std::fma(square, q, small), static_cast<int>(k)};
}

template <class R>
R exp_of(R x) {
  if (std::isnan(x)) return std::numeric_limits<R>::quiet_NaN();
  if (x < constants<R>::lowest) return 0;
  if (x > constants<R>::highest) return std::numeric_limits<R>::infinity();
  const parts<R> e = reduced(x);
  return std::ldexp(e.head + e.left, e.k);
}

template <class R>
R sigmoid_of(R x) {
  if (std::isnan(x)) return std::numeric_limits<R>::quiet_NaN();
  const parts<R> e = reduced(std::max(-std::abs(x), constants<R>::lowest));
  const R scale = std::ldexp(R(1), e.k);
  const R mantissa = e.head + e.left;
  const R d = std::fma(scale, mantissa, R(1));
  const R d_left = std::fma(scale, e.left, std::fma(scale, e.head, 1 - d));
  R q = 1 / d;
  if (std::is_same_v<R, double>) {
    q = std::fma(std::fma(R(32) / 99, d, R(-144) / 99), d, R(210) / 99);
    q = std::fma(q, std::fma(-d, q, 1 + R(1) / 19602), q);
    q = std::fma(q, std::fma(-d, q, 1 + R(1) / 768476808), q);
  }
  const R left = std::fma(-q, d_left, std::fma(-q, d, R(1)));
  if (!(x < 0)) return std::fma(q, R(1), q * left);
  return std::fma(q, e.head, q * std::fma(mantissa, left, e.left)) * scale;
}

// --- A function of whole vectors -----------------------------------------------------------------

template <class C>
C product(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else if constexpr (tally::is_complex_v<C>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

template <class C>
C multiple(const tally::scalar& factor, C x) {
  const C f = factor.as<C>();
  if constexpr (tally::is_complex_v<C>) {
    if (!tally::is_complex(factor.element) || factor.number.imag() == 0) {
      return {f.real() * x.real(), f.real() * x.imag()};
    }
  }
  return product(f, x);
}

template <class C>
C sum(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class C>
C difference(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  } else {
    return a - b;
  }
}

// --- Short functions -----------------------------------------------------------------------------

template <class R>
std::complex<R> quotient(std::complex<R> x, std::complex<R> y) {  // Smith's
  const R a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (std::abs(c) >= std::abs(d)) {
    const R ratio = d / c, t = c + d * ratio;
    return {(a + b * ratio) / t, (b - a * ratio) / t};
  }
  const R ratio = c / d, t = c * ratio + d;
  return {(a * ratio + b) / t, (b * ratio - a) / t};
}
template <class R>
R quotient(R x, R y) {
  return x / y;
}

template <class R>
R modulus(std::complex<R> x) {
  const R re = std::abs(x.real()), im = std::abs(x.imag());
  if (std::isinf(re) || std::isinf(im)) return std::numeric_limits<R>::infinity();
  constexpr bool is_float = std::is_same_v<R, float>;
  const R larger = re > im ? re : im;
  int shift = 0;
  if (larger >= std::ldexp(R(1), is_float ? 60 : 500)) shift = is_float ? -80 : -600;
  if (larger < std::ldexp(R(1), is_float ? -40 : -500)) shift = is_float ? 100 : 700;
  const R p = std::ldexp(re, shift), q = std::ldexp(im, shift);
  return std::ldexp(std::sqrt(p * p + q * q), -shift);
}
template <class R>
R modulus(R x) {
  if constexpr (std::is_integral_v<R>) {
    return x < 0 ? static_cast<R>(0 - static_cast<std::uint64_t>(x)) : x;
  } else {
    return std::abs(x);
  }
}

template <class C>
C power(C x, std::int64_t n) {
  C result = C(1);
  for (int digit = 0; digit < 26; ++digit) {
    if (std::abs(n) >> digit & 1) {
      C square = x;
      for (int k = 0; k < digit; ++k) square = product(square, square);
      // The lowest digit's power is not multiplied by 1.
      const bool is_first = (std::abs(n) & ((1 << digit) - 1)) == 0;
      result = is_first ? square : product(result, square);
    }
  }
  if constexpr (!std::is_integral_v<C>) {
    if (n < 0) return quotient(C(1), result);
  }
  return result;
}

/// IEEE 754-2019's minimum.
template <class R>
R minimum(R x, R y) {
  if (x != x) return x;
  if (y != y) return y;
  if constexpr (std::is_floating_point_v<R>) {
    if (x == 0 && y == 0) return std::signbit(x) ? x : y;
  }
  return x < y ? x : y;
}
template <class R>
R maximum(R x, R y) {
  if (x != x) return x;
  if (y != y) return y;
  if constexpr (std::is_floating_point_v<R>) {
    if (x == 0 && y == 0) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}

template <class R>
bool is_true(int code, R x, R y) {
  using tally::comparison;
  using tally::detail::code_of;
  if (code == code_of(comparison::less)) return x < y;
  if (code == code_of(comparison::less_equal)) return x <= y;
  if (code == code_of(comparison::equal)) return x == y;
  if (code == code_of(comparison::not_equal)) return x != y;
  if (code == code_of(comparison::greater_equal)) return x >= y;
  return x > y;
}

// log and tanh, as in docs/numerics.md

template <class R>
struct log_constants;
template <>
struct log_constants<float> {
  static constexpr float head = 0x1.62e4p-1f, tail = 0x1.7f7d1cp-20f;
  static constexpr float p[] = {0x1.555556p-1f, 0x1.9999fp-2f, 0x1.245a08p-2f, 0x1.de4738p-3f};
};
template <>
struct log_constants<double> {
  static constexpr double head = 0x1.62e42feep-1, tail = 0x1.a39ef35793c76p-33;
  static constexpr double p[] = {0x1.5555555555558p-1, 0x1.99999999949dp-2,  0x1.2492492eefe17p-2,
                                 0x1.c71c61a40ddfbp-3, 0x1.74630f3e18fa7p-3, 0x1.39f2bba043e06p-3,
                                 0x1.2be6c99b32a48p-3};
};

template <class R>
R log_of(R x) {
  using limits = std::numeric_limits<R>;
  if (!(x >= 0)) return limits::quiet_NaN();
  if (x == 0) return -limits::infinity();
  if (std::isinf(x)) return x;
  int exponent;
  R m = std::frexp(x, &exponent);  // in [1/2, 1)
  // The float or double next to sqrt(1/2).
  if (m < (std::is_same_v<R, float> ? R(0x1.6a09e6p-1f) : R(0x1.6a09e667f3bcdp-1))) {
    m *= 2, --exponent;
  }
  const R k = static_cast<R>(exponent), f = m - 1, s = f / (f + 2), z = s * s, h = R(0.5) * f * f;
  constexpr int terms = static_cast<int>(std::size(log_constants<R>::p));
  R p = log_constants<R>::p[terms - 1];
  for (int i = terms - 2; i >= 0; --i) p = std::fma(p, z, log_constants<R>::p[i]);
  const R small = std::fma(s, std::fma(z, p, h), k * log_constants<R>::tail);
  return std::fma(k, log_constants<R>::head, f - (h - small));
}

template <class R>
struct tanh_constants;
template <>
struct tanh_constants<float> {
  static constexpr float tiny = 0x1p-13f, lowest = -24;
  static constexpr float q[] = {0x1.555556p-3f, 0x1.555518p-5f, 0x1.1110f6p-7f, 0x1.6d11fep-10f,
                                0x1.a0f946p-13f};
};
template <>
struct tanh_constants<double> {
  static constexpr double tiny = 0x1p-28, lowest = -48;
  static constexpr double q[] = {
      0x1.5555555555556p-3,  0x1.5555555555555p-5,  0x1.1111111110996p-7,  0x1.6c16c16c167d1p-10,
      0x1.a01a01a7da98dp-13, 0x1.a01a01a487dd6p-16, 0x1.71de0d573888bp-19, 0x1.27e4e1c2b899fp-22,
      0x1.af39789bfd689p-26, 0x1.1f6755b5ecab2p-29};
};

template <class R>
R tanh_of(R x) {
  using c = constants<R>;
  using t = tanh_constants<R>;
  if (std::isnan(x)) return std::numeric_limits<R>::quiet_NaN();
  if (std::abs(x) < t::tiny) return x;
  const R y = std::max(-2 * std::abs(x), t::lowest);
  constexpr R much = std::is_same_v<R, float> ? R(0x1.8p23f) : R(0x1.8p52);
  const R k = std::fma(y, c::log2_e, much) - much;
  const R large = std::fma(-k, c::ln2, y), small = -k * c::ln2_left;
  const R r = large + small, square = r * r, half = R(0.5) * square;
  R q = 0;
  constexpr int terms = static_cast<int>(std::size(t::q));
  for (int i = (terms - 1) / 2 * 2; i >= 0; i -= 2) {
    const R pair = i + 1 < terms ? std::fma(t::q[i + 1], r, t::q[i]) : t::q[i];
    q = i + 2 < terms ? std::fma(q, square, pair) : pair;
  }
  const R both = large + half, head = 1 + both;
  const R left = (both - (head - 1)) + ((half - (both - large)) + std::fma(square * r, q, small));
  const R e = std::ldexp(R(1), static_cast<int>(k));
  const R h = std::fma(e, head, R(-1)), l = std::fma(e, left, std::fma(e, head, -1 - h));
  const R u = h + l, d = 2 + u, d_left = ((2 - d) + h) + l;
  R reciprocal = 1 / d;
  if (std::is_same_v<R, double>) {
    reciprocal = std::fma(std::fma(R(32) / 99, d, R(-144) / 99), d, R(210) / 99);
    reciprocal = std::fma(reciprocal, std::fma(-d, reciprocal, 1 + R(1) / 19602), reciprocal);
    reciprocal = std::fma(reciprocal, std::fma(-d, reciprocal, 1 + R(1) / 768476808), reciprocal);
  }
  const R error = std::fma(-reciprocal, d_left, std::fma(-reciprocal, d, R(1)));
  const R result = std::fma(reciprocal, h, reciprocal * std::fma(u, error, l));
  return x < 0 ? result : -result;
}

template <class C>
C short_function(tally::elementwise what, const factors& f, C x, C y, C w) {
  using tally::elementwise;
  switch (what) {
    case elementwise::scale:
      return multiple(f.alpha, x);
    case elementwise::abs:
      return C(modulus(x));
    case elementwise::pow:
      return power(x, f.alpha.integer);
    case elementwise::add_constant:
      if constexpr (tally::is_complex_v<C>) {
        const C b = f.alpha.as<C>();
        if (f.alpha.number.imag() == 0) return {x.real() + b.real(), x.imag()};
        return x + b;
      } else {
        return sum(x, f.alpha.as<C>());
      }
    case elementwise::where:
      return x == C(0) ? w : y;
    default:
      break;
  }
  if constexpr (!std::is_integral_v<C>) {
    if (what == elementwise::inv) return quotient(C(1), x);
    if (what == elementwise::div) return quotient(x, y);
    if (what == elementwise::jacobi_step) return sum(x, quotient(multiple(f.alpha, y), w));
  }
  if constexpr (!tally::is_complex_v<C>) {
    const int code = static_cast<int>(f.alpha.integer);
    if (what == elementwise::minimum) return minimum(x, y);
    if (what == elementwise::maximum) return maximum(x, y);
    if (what == elementwise::clamp) {
      return minimum(maximum(x, f.alpha.as<C>()), f.beta.as<C>());
    }
    if (what == elementwise::sign) return x != x ? x : C(x > 0) - C(x < 0);
    if (what == elementwise::compare) return is_true(code, x, y);
    if (what == elementwise::compare_constant) return is_true(code, x, f.beta.as<C>());
    if constexpr (std::is_floating_point_v<C>) {
      if (what == elementwise::sqrt) return std::sqrt(x);
      if (what == elementwise::log) return log_of(x);
      if (what == elementwise::tanh) return tanh_of(x);
    }
  }
  return C{};
}

bool is_zero(const tally::scalar& factor) {
  return tally::is_integer(factor.element) ? factor.integer == 0 : factor.number == 0.0;
}

template <class C>
C function(tally::elementwise what, const factors& f, C x, C y, C z) {
  using tally::elementwise;
  if (what > elementwise::exp) return short_function(what, f, x, y, z);
  const auto& [alpha, beta, gamma] = f;
  switch (what) {
    case elementwise::fill:
      return alpha.as<C>();
    case elementwise::copy:
      return x;
    case elementwise::scal:
      return multiple(alpha, x);
    case elementwise::axpy:
      return sum(multiple(alpha, x), y);
    case elementwise::axpby:  // updates y
      if (is_zero(beta)) return multiple(alpha, x);
      return sum(multiple(alpha, x), multiple(beta, y));
    case elementwise::waxpby:
      return sum(multiple(alpha, x), multiple(beta, y));
    case elementwise::axpbypcz: {
      const C both = sum(multiple(alpha, x), multiple(beta, y));
      return is_zero(gamma) ? both : sum(both, multiple(gamma, z));
    }
    case elementwise::axypbz: {
      const C both = product(multiple(alpha, x), y);
      return is_zero(beta) ? both : sum(both, multiple(beta, z));
    }
    case elementwise::add:
      return sum(x, y);
    case elementwise::sub:
      return difference(x, y);
    case elementwise::mul:
      return product(x, y);
    default:
      break;
  }
  if constexpr (!tally::is_complex_v<C>) {
    if (what == elementwise::relu) return x > 0 || x != x ? x : C(0);
    if constexpr (std::is_floating_point_v<C>) {
      return what == elementwise::sigmoid ? sigmoid_of(x) : exp_of(x);
    }
  }
  return C{};
}

}  // namespace

float exp(float x) { return exp_of(x); }
double exp(double x) { return exp_of(x); }
float sigmoid(float x) { return sigmoid_of(x); }
double sigmoid(double x) { return sigmoid_of(x); }

double worst_error(tally::elementwise what, const float* x, const float* z, std::size_t n) {
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) continue;
    const double number = x[i],
                 power = std::exp(what == tally::elementwise::exp ? number : -number);
    const double want = what == tally::elementwise::exp ? power : 1 / (1 + power);
    if (want >= 0x1.ffffffp127) {  // rounds to infinity
      if (!std::isinf(z[i])) return std::numeric_limits<double>::infinity();
      continue;
    }
    int exponent;
    std::frexp(want, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
    const double error = std::abs(static_cast<double>(z[i]) - want) / unit;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

namespace {

tally::type computation_of(tally::elementwise what, const std::vector<tally::type>& inputs) {
  using tally::type;
  bool is_complex = false, has_double = false, is_floating = false, has_float = false;
  for (const type t : inputs) {
    is_complex |= t == type::complex64 || t == type::complex128;
    has_double |= t == type::float64 || t == type::complex128;
    has_float |= t == type::float32;
    is_floating |= t == type::float16 || t == type::bfloat16 || t == type::float32;
  }
  if (is_complex) return has_double ? type::complex128 : type::complex64;
  if (has_double) return type::float64;
  if (!is_floating) return type::int64;
  const bool is_formula = what == tally::elementwise::exp || what == tally::elementwise::sigmoid;
  return is_formula && !has_float ? type::float64 : type::float32;
}

}  // namespace

std::vector<std::byte> transform(tally::elementwise what, const factors& f, const elements& x,
                                 const elements& y, const elements& z, const elements& w) {
  if (what == tally::elementwise::copy && x.element == z.element) return x.bytes;
  const std::size_t n = z.bytes.size() / tally::size_of(z.element);
  std::vector<std::byte> result(z.bytes.size());
  const bool fills = what == tally::elementwise::fill;
  const bool binary = tally::detail::is_binary(what);
  const bool reads_z = what == tally::elementwise::axpbypcz || what == tally::elementwise::axypbz;
  const bool ternary = tally::detail::is_ternary(what);
  const auto run = [&]<class C>(std::type_identity<C>) {
    for (std::size_t i = 0; i < n; ++i) {
      const C first = fills ? C{} : get<C>(x, i);
      const C second = binary ? get<C>(y, i) : C{};
      const C third = reads_z ? get<C>(z, i) : ternary ? get<C>(w, i) : C{};
      put(function(what, f, first, second, third), result, z.element, i);
    }
  };
  const tally::type x_type = fills ? f.alpha.element : x.element;
  if (fills && z.element == tally::type::boolean) {
    for (std::byte& each : result) each = std::byte{f.alpha.integer != 0};
    return result;
  }
  std::vector<tally::type> inputs = {x_type};
  if (binary) inputs.push_back(y.element);
  if (reads_z) inputs.push_back(z.element);
  if (ternary) inputs.push_back(w.element);
  if (what == tally::elementwise::where) inputs.erase(inputs.begin());  // a mask
  // A written value is rounded once, also double to 16 bits.
  if (fills && !tally::is_integer(x_type)) inputs.push_back(tally::type::float64);
  switch (computation_of(what, inputs)) {
    case tally::type::int64:
      run(std::type_identity<std::int64_t>{});
      break;
    case tally::type::float32:
      run(std::type_identity<float>{});
      break;
    case tally::type::float64:
      run(std::type_identity<double>{});
      break;
    case tally::type::complex64:
      run(std::type_identity<std::complex<float>>{});
      break;
    default:
      run(std::type_identity<std::complex<double>>{});
  }
  return result;
}

}  // namespace transcription
