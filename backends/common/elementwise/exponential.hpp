// The functions of one number.
#pragma once

#include "backends/common/arithmetic.hpp"
#include "backends/common/order/dot_sum.hpp"

#include <tally/operations/elementwise.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tally::backends {

template <class R>
struct exponential_constants;

template <>
struct exponential_constants<float> {
  static constexpr float log2_e = 0x1.715476p+0f;
  static constexpr float magic = 0x1.8p23f;  ///< adding it rounds to an integer
  /// -ln 2 in two parts; k times the first is exact.
  static constexpr float minus_ln2_head = -0x1.62e4p-1f;
  static constexpr float minus_ln2_tail = -0x1.7f7d1cp-20f;
  /// exp is 0 below `lowest`, infinite above `highest`.
  static constexpr float lowest = -106, highest = 89;
  /// Exponent offset that keeps powers of two normal, except 2^-153 of `lowest`, which becomes 0:
  /// products with 0 are not subnormal, so not slow.
  static constexpr int aside = 26;
  static constexpr float forth = 0x1p26f, back = 0x1p-26f;
  /// Below it sigmoid depends on 2^k in its last step alone.
  static constexpr float negligible = -64;
  static constexpr float vanishing = -150;  ///< 2^vanishing rounds to 0
  /// Added so that neither x nor x^2 is subnormal; rounded away unless exp is 1.
  static constexpr float speck = 0x1p-50f;
  /// Polynomial Q for (exp(r) - 1 - r) / r^2, error at most 2^-28.2 / r^2.
  static constexpr int degree = 4;
  static constexpr float q[] = {0.5f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b6cp-7f,
                                0x1.6db448p-10f};
};

template <>
struct exponential_constants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double magic = 0x1.8p52;
  static constexpr double minus_ln2_head = -0x1.62e42fefa38p-1;
  static constexpr double minus_ln2_tail = -0x1.ef35793c7673p-45;
  static constexpr double lowest = -753.5, highest = 710;
  static constexpr int aside = 64;  // 2^-1087 becomes 0
  static constexpr double forth = 0x1p64, back = 0x1p-64;
  static constexpr double negligible = -128;
  static constexpr double vanishing = -1075;
  static constexpr double speck = 0x1p-120;
  /// Error at most 2^-58.0 / r^2.
  static constexpr int degree = 9;
  static constexpr double q[] = {
      0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.5555555550017p-5,  0x1.111111110d62ap-7,
      0x1.6c16c185ad03ep-10, 0x1.a01a01bae7705p-13, 0x1.a0199683e6f2bp-16, 0x1.71dddfc05c531p-19,
      0x1.28b0581d3921ap-22, 0x1.af8599e3f47e7p-26};
};

/// Polynomial P: log(m) is 2 s + s z P(z), with f = m - 1, s = f / (2 + f), z = s^2; error at most
/// 2^-30.6 or 2^-56.1 over s.
template <class R>
struct logarithm_constants;

template <>
struct logarithm_constants<float> {
  static constexpr std::uint32_t min_mantissa = 0x3f3504f3;  ///< bits of sqrt(1/2), of m
  static constexpr float up = 0x1p25f, up_digits = 25;       ///< makes subnormal numbers normal
  static constexpr float min_normal = 0x1p-126f;
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  /// ln 2 in two parts; k times the first is exact.
  static constexpr float ln2_head = 0x1.62e4p-1f, ln2_tail = 0x1.7f7d1cp-20f;
  static constexpr int degree = 3;
  static constexpr float p[] = {0x1.555556p-1f, 0x1.9999fp-2f, 0x1.245a08p-2f, 0x1.de4738p-3f};
};

template <>
struct logarithm_constants<double> {
  static constexpr std::uint64_t min_mantissa = 0x3fe6a09e667f3bcd;
  static constexpr double up = 0x1p54, up_digits = 54;
  static constexpr double min_normal = 0x1p-1022;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double ln2_head = 0x1.62e42feep-1, ln2_tail = 0x1.a39ef35793c76p-33;
  static constexpr int degree = 6;
  static constexpr double p[] = {0x1.5555555555558p-1, 0x1.99999999949dp-2,  0x1.2492492eefe17p-2,
                                 0x1.c71c61a40ddfbp-3, 0x1.74630f3e18fa7p-3, 0x1.39f2bba043e06p-3,
                                 0x1.2be6c99b32a48p-3};
};

/// tanh(x) is x below `tiny`; from -2 x = `lowest` on it is 1. Polynomial for
/// (exp(r) - 1 - r - r^2 / 2) / r^3, error at most 2^-30.7 or 2^-60.3 over r^3.
template <class R>
struct tangent_constants;
template <>
struct tangent_constants<float> {
  static constexpr float tiny = 0x1p-13f, lowest = -24;
  static constexpr int degree = 4;
  static constexpr float q[] = {0x1.555556p-3f, 0x1.555518p-5f, 0x1.1110f6p-7f, 0x1.6d11fep-10f,
                                0x1.a0f946p-13f};
};
template <>
struct tangent_constants<double> {
  static constexpr double tiny = 0x1p-28, lowest = -48;
  static constexpr int degree = 9;
  static constexpr double q[] = {
      0x1.5555555555556p-3,  0x1.5555555555555p-5,  0x1.1111111110996p-7,  0x1.6c16c16c167d1p-10,
      0x1.a01a01a7da98dp-13, 0x1.a01a01a487dd6p-16, 0x1.71de0d573888bp-19, 0x1.27e4e1c2b899fp-22,
      0x1.af39789bfd689p-26, 0x1.1f6755b5ecab2p-29};
};

/// Returns 1/d for d in [1, 2], rounded to nearest even, by two Newton steps from q, off by at most
/// 4 ulp. One d is too close to half way. (tests/exponential.cpp checks all d and q.)
TALLY_HOST_DEVICE inline float rounded_reciprocal(float d, float q) {
  q = std::fma(q, std::fma(-d, q, 1.0f), q);
  q = std::fma(q, std::fma(-d, q, 1.0f), q);
  return d == 0x1.fffffep+0f ? 0x1.000002p-1f : q;
}

template <class R>
struct number_arithmetic {
  using number = R;
  using word = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;

  static TALLY_HOST_DEVICE R set(R value) { return value; }
  static TALLY_HOST_DEVICE R add(R a, R b) {
    if constexpr (std::is_integral_v<R>) {
      return static_cast<R>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
  static TALLY_HOST_DEVICE R sub(R a, R b) { return a - b; }
  static TALLY_HOST_DEVICE R mul(R a, R b) { return product(a, b); }
  static TALLY_HOST_DEVICE R fma(R a, R b, R c) { return std::fma(a, b, c); }
  static TALLY_HOST_DEVICE R minus_product(R a, R b, R c) { return std::fma(-a, b, c); }
  /// x, or x + speck. Not on devices, where subnormals are fast.
  static TALLY_HOST_DEVICE R kept_normal(R x, [[maybe_unused]] R speck) {
#if TALLY_DEVICE_CODE
    return x;
#else
    return x + speck;
#endif
  }
  /// Either for NaN. Devices, limited by double operations, compare upper words as integers; x may
  /// then be slightly outside.
  static TALLY_HOST_DEVICE R at_least(R x, R negative_bound) {
#if TALLY_DEVICE_CODE
    if constexpr (sizeof(R) == 8) {
      return static_cast<unsigned>(upper_word(x)) >
                     static_cast<unsigned>(upper_word(negative_bound))
                 ? negative_bound
                 : x;
    }
    return fmax(x, negative_bound);
#else
    return x > negative_bound ? x : negative_bound;
#endif
  }
  static TALLY_HOST_DEVICE R at_most(R x, R positive_bound) {
#if TALLY_DEVICE_CODE
    if constexpr (sizeof(R) == 8) {
      return upper_word(x) > upper_word(positive_bound) ? positive_bound : x;
    }
    return fmin(x, positive_bound);
#else
    return x < positive_bound ? x : positive_bound;
#endif
  }
  /// Returns 1/d, rounded to nearest even. Pre: d in [1, 2].
  static TALLY_HOST_DEVICE R reciprocal(R d) {
#if defined(__CUDA_ARCH__)
    // __frcp_rn, which checks the range, is slower (tuning/elementwise.md: reciprocal on devices).
    float q;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(static_cast<float>(d)));
    return rounded_reciprocal(static_cast<float>(d), q);
#else
    return 1 / d;
#endif
  }
  static TALLY_HOST_DEVICE R div(R a, R b) { return a / b; }
  static TALLY_HOST_DEVICE R sqrt(R a) { return std::sqrt(a); }
  static TALLY_HOST_DEVICE R magnitude(R a) {
    if constexpr (std::is_integral_v<R>) {
      return a < 0 ? static_cast<R>(-static_cast<std::uint64_t>(a)) : a;
    } else {
      return std::fabs(a);
    }
  }
  static TALLY_HOST_DEVICE bool lt(R a, R b) { return a < b; }
  static TALLY_HOST_DEVICE bool eq(R a, R b) { return a == b; }
  /// The bits of either, and of both.
  static TALLY_HOST_DEVICE R either(R a, R b) {
    return __builtin_bit_cast(R, __builtin_bit_cast(word, a) | __builtin_bit_cast(word, b));
  }
  static TALLY_HOST_DEVICE R both(R a, R b) {
    return __builtin_bit_cast(R, __builtin_bit_cast(word, a) & __builtin_bit_cast(word, b));
  }
  static TALLY_HOST_DEVICE R minus_magnitude(R a) { return -std::fabs(a); }
  /// Whether a is negative; either for -0.
  static TALLY_HOST_DEVICE bool is_negative(R a) {
#if TALLY_DEVICE_CODE
    if constexpr (sizeof(R) == 8) return upper_word(a) < 0;
#endif
    return a < 0;
  }
  static TALLY_HOST_DEVICE bool is_positive(R a) { return a > 0; }
  static TALLY_HOST_DEVICE R select(bool which, R yes, R no) { return which ? yes : no; }
  static TALLY_HOST_DEVICE R zero_unless(bool which, R x) { return which ? x : R{0}; }
  /// Returns 2^(k + aside), k in the lowest bits of `magic`.
  template <int aside>
  static TALLY_HOST_DEVICE R power_of_two(R magic) {
    constexpr int digits = std::numeric_limits<R>::digits - 1;
    constexpr auto bias = static_cast<word>(std::numeric_limits<R>::max_exponent - 1 + aside);
    return __builtin_bit_cast(R, (__builtin_bit_cast(word, magic) << digits) + (bias << digits));
  }
  /// Returns k of x = 2^k m with m from `min_mantissa` on. Pre: x is normal.
  static TALLY_HOST_DEVICE R exponent_of(R x, word min_mantissa) {
    constexpr int digits = std::numeric_limits<R>::digits - 1;
    constexpr word one = __builtin_bit_cast(word, R{1});
    const word moved = __builtin_bit_cast(word, x) + (one - min_mantissa);
    constexpr R magic = sizeof(R) == 4 ? R(0x1p23f) : R(0x1p52);
    return __builtin_bit_cast(R, __builtin_bit_cast(word, magic) | moved >> digits) -
           (magic + (std::numeric_limits<R>::max_exponent - 1));
  }
  static TALLY_HOST_DEVICE R mantissa_of(R x, word min_mantissa) {
    constexpr int digits = std::numeric_limits<R>::digits - 1;
    constexpr word one = __builtin_bit_cast(word, R{1});
    const word moved = __builtin_bit_cast(word, x) + (one - min_mantissa);
    return __builtin_bit_cast(R, (moved & ((word{1} << digits) - 1)) + min_mantissa);
  }
  static TALLY_HOST_DEVICE R keep_nan(R x, R result) { return x != x ? quiet_nan<R> : result; }
  static TALLY_HOST_DEVICE R known(R result) { return keep_nan(result, result); }
  /// Whether there are `scaled`, which multiplies by 2^k and rounds once, and both `within`.
  static constexpr bool has_scaling = false;
};

#define TALLY_FUNCTION TALLY_HOST_DEVICE inline
#define TALLY_LAMBDA
#include "backends/common/elementwise/formulas-inl.hpp"
#undef TALLY_LAMBDA
#undef TALLY_FUNCTION

}  // namespace tally::backends
