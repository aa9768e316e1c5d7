// Rounding of fixed-point numbers in digits of 32 bits (<tally/numerics/exact_sum.hpp>) by integers
// alone.
#pragma once

#include <tally/operands/types.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tally {

/// float or double.
template <class T>
concept float_or_double = std::same_as<T, float> || std::same_as<T, double>;

}  // namespace tally

namespace tally::detail {

template <class R>
using word_of = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;

template <class R>
inline constexpr word_of<R> infinity_bits =
    ~word_of<R>{0} >> std::numeric_limits<R>::digits << (std::numeric_limits<R>::digits - 1);

/// +-significand*2^exponent; with sign 0 or -1, (m ^ sign) - sign is +-m without a branch.
template <float_or_double T>
struct float_parts {
  using limits = std::numeric_limits<T>;
  static constexpr int smallest = limits::min_exponent - limits::digits;  // of the subnormals
  using word = word_of<T>;
  static constexpr int fraction_bits = limits::digits - 1;
  static constexpr unsigned last_field = 2 * limits::max_exponent - 1;

  std::uint64_t significand;
  int exponent;
  unsigned field;
  std::int64_t sign;

  TALLY_HOST_DEVICE explicit float_parts(T value) {
    const word bits = __builtin_bit_cast(word, value);
    const std::uint64_t fraction = bits & ((word{1} << fraction_bits) - 1);
    field = static_cast<unsigned>(bits >> fraction_bits) & last_field;
    sign = -static_cast<std::int64_t>(bits >> (8 * sizeof(word) - 1));
    significand = fraction | std::uint64_t{field != 0} << fraction_bits;
    exponent = static_cast<int>(field) - (field != 0) + smallest;
  }
  TALLY_HOST_DEVICE bool special() const { return field == last_field; }
  TALLY_HOST_DEVICE bool nan() const {
    return special() && significand != std::uint64_t{1} << fraction_bits;
  }
  TALLY_HOST_DEVICE bool zero() const { return significand == 0; }
};

/// The five leading digits of a magnitude, whether anything is below, and the limb of the first,
/// nonzero one (-1 for 0).
struct leading_digits {
  int top = -1;
  std::uint32_t digits[5] = {};
  bool rest = false;
  bool negative = false;
};

TALLY_HOST_DEVICE constexpr std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

template <float_or_double R>
TALLY_HOST_DEVICE R infinity(bool negative) {
  const auto sign = word_of<R>{negative} << (8 * sizeof(R) - 1);
  return __builtin_bit_cast(R, infinity_bits<R> | sign);
}

/// Positive, its payload empty.
template <float_or_double R>
TALLY_HOST_DEVICE R quiet_nan() {
  constexpr int digits = std::numeric_limits<R>::digits;
  return __builtin_bit_cast(R, infinity_bits<R> | word_of<R>{1} << (digits - 2));
}

/// floor(sqrt(n)), n >= 2^62, by Newton steps from 1 bit to 32; the last is off by less than 1
/// (proof: CPython's math.isqrt).
TALLY_HOST_DEVICE inline std::uint64_t root_of(std::uint64_t n) {
  auto u = static_cast<std::uint32_t>(1 + (n >> 62));
  u = (u << 1) + static_cast<std::uint32_t>(n >> 59) / u;
  u = (u << 3) + static_cast<std::uint32_t>(n >> 53) / u;
  u = (u << 7) + static_cast<std::uint32_t>(n >> 41) / u;
  std::uint64_t root = (std::uint64_t{u} << 15) + (n >> 17) / u;
  if (root > 0xffffffff) root = 0xffffffff;
  return root * root > n ? root - 1 : root;
}

/// Returns the leading digits of limbs low ... high - 1. Not inlined: code size (tuning/exact.md:
/// lead).
template <int limbs>
[[gnu::noinline]] TALLY_HOST_DEVICE leading_digits lead(const std::int64_t* from, int low,
                                                        int high) {
  constexpr int below = 4;  // zeros below the lowest digit: always five digits
  std::uint32_t digits[std::size_t{below + limbs + 1}];
  for (int i = 0; i < below; ++i) digits[low + i] = 0;
  leading_digits result;
  for (std::int64_t sign = 0; sign >= -1; --sign) {  // a pass ends with the sign
    std::int64_t carry = 0;
    for (int i = low; i < high; ++i) {
      const std::int64_t v = ((from[i] ^ sign) - sign) + carry;
      digits[below + i] = static_cast<std::uint32_t>(v);
      carry = v >> 32;
    }
    digits[below + high] = static_cast<std::uint32_t>(carry);
    result.negative = sign != 0;
    if (carry >= 0) break;
  }
  int top = high;
  while (top >= low && digits[below + top] == 0) --top;
  if (top < low) return result;
  result.top = top;
  for (int i = 0; i <= below; ++i) result.digits[i] = digits[below + top - i];
  for (int i = top - 1; i >= low && !result.rest; --i) result.rest = digits[i] != 0;
  return result;
}

/// Sign of a - b, of limbs low ... high - 1; others are 0.
TALLY_HOST_DEVICE inline int compare_digits(const std::int64_t* a, const std::int64_t* b, int low,
                                            int high) {
  std::int64_t carry_a = 0, carry_b = 0;
  int sign = 0;
  for (int i = low; i < high; ++i) {
    carry_a += a[i];
    carry_b += b[i];
    const auto digit_a = static_cast<std::uint32_t>(carry_a);
    const auto digit_b = static_cast<std::uint32_t>(carry_b);
    if (digit_a != digit_b) sign = digit_a > digit_b ? 1 : -1;
    carry_a >>= 32;
    carry_b >>= 32;
  }
  if (carry_a != carry_b) sign = carry_a > carry_b ? 1 : -1;
  return sign;
}

/// +-(bits + more)*2^(top - 63), rounded; bit 63 of `bits` is 1, 0 <= more < 1, nonzero if
/// `rest`.
template <float_or_double R>
TALLY_HOST_DEVICE R rounded(bool negative, std::uint64_t bits, int top, bool rest) {
  using to = std::numeric_limits<R>;
  using word = word_of<R>;
  if (top >= to::max_exponent) {
    return infinity<R>(negative);
  }
  const int field = top < to::min_exponent ? 0 : top - to::min_exponent + 1;  // less 1
  const int available = top - (to::min_exponent - to::digits) + 1;
  const int kept = available < to::digits ? available : to::digits;
  std::uint64_t significand = 0;
  if (kept > 0) {
    significand = bits >> (64 - kept);
    const std::uint64_t below = bits << kept;
    const std::uint64_t half = std::uint64_t{1} << 63;
    significand += below > half || (below == half && (rest || (significand & 1)));
  } else if (kept == 0) {
    significand = bits << 1 != 0 || rest;  // more than half the smallest
  }
  // A normal's first bit, or a carry, adds 1 to the field, up to infinity.
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(field) << (to::digits - 1)) + significand;
  const word sign = word{negative} << (8 * sizeof(R) - 1);
  return __builtin_bit_cast(R, static_cast<word>(magnitude) | sign);
}

/// The number, correctly rounded; the first digit weighs 2^weight.
template <float_or_double R>
TALLY_HOST_DEVICE R rounded(const leading_digits& l, int weight) {
  if (l.top < 0) return R(0);
  // The 64 bits from the first 1 on; the top digit is not 0.
  const int zeros = __builtin_clz(l.digits[0]);
  const std::uint64_t first = pair(l.digits[0], l.digits[1]);
  const std::uint64_t bits = zeros == 0 ? first : first << zeros | l.digits[2] >> (32 - zeros);
  const std::uint32_t unused = l.digits[2] << zeros;
  return rounded<R>(l.negative, bits, weight + 31 - zeros,
                    l.rest || unused || l.digits[3] || l.digits[4]);
}

/// Its square root; NaN if it is negative.
template <float_or_double R>
TALLY_HOST_DEVICE R rounded_root(const leading_digits& l, int weight) {
  if (l.top < 0) return R(0);
  if (l.negative) return quiet_nan<R>();
  // The sum is f*4^k, f in [1/4, 1): f's first 128 bits give the root's first 56 and exactness.
  const int zeros = __builtin_clz(l.digits[0]) & ~1;  // weights are even, so k is an integer
  std::uint64_t high_bits = pair(l.digits[0], l.digits[1]);
  std::uint64_t low_bits = pair(l.digits[2], l.digits[3]);
  std::uint32_t unused = l.digits[4];
  if (zeros > 0) {
    high_bits = high_bits << zeros | low_bits >> (64 - zeros);
    low_bits = low_bits << zeros | unused >> (32 - zeros);
    unused <<= zeros;
  }
  const int k = (weight + 32 - zeros) / 2;
  // The root's first 32 bits, then 24 by a step of long division (P. Zimmermann, Karatsuba square
  // root, 1999): with high_bits = s^2 + r and the next 48 bits l1*2^24 + l0, the root is s * 2^24
  // + q or 1 less, q = (r*2^24 + l1) / 2s.
  const std::uint64_t s = root_of(high_bits);
  const std::uint64_t r = high_bits - s * s;
  const std::uint64_t l1 = low_bits >> 40, l0 = low_bits >> 16 & 0xffffff;
  const std::uint64_t dividend = r << 24 | l1;
  const std::uint64_t q = dividend / (2 * s);
  std::uint64_t root = (s << 24) + q;
  const auto remainder = static_cast<std::int64_t>((dividend - q * 2 * s) << 24 | l0) -
                         static_cast<std::int64_t>(q * q);
  if (remainder < 0) --root;  // inexact then, since 2*root + 1 > q^2
  return rounded<R>(false, root << 8, k - 1,
                    remainder != 0 || low_bits << 48 != 0 || unused || l.rest);
}

}  // namespace tally::detail
