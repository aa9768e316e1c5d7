// Exact sums of weights: the limbs of a <tally/numerics/exact_sum.hpp> that one weight of type W
// reaches, and a word for non-finite weights; shared by all backends.
//
// A weight is cut into signed 32-bit digits, added to 64-bit words without carries: order does not
// matter, and 2^30 weights cannot overflow.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"

#include <tally/numerics/exact_sum.hpp>
#include <tally/operations/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tally::backends {

/// Maximum of sums or counts, which keeps slots of all channels
/// (backends/common/histogram/bins.hpp) below 2^32.
inline constexpr std::size_t max_counts = (std::size_t{1} << 31) - 1;
/// Maximum of weights, with room for a previous value.
inline constexpr std::size_t max_weights = (std::size_t{1} << 30) - 2;

/// Not inlined: on devices its loops, unrolled per pair of types, dominate compile time.
[[gnu::noinline]] TALLY_HOST_DEVICE inline exact_sum<double> sum_of_words(
    const std::int64_t* words) {
  return exact_sum<double>::from_words(words);
}

template <class W>
struct weight_sum {
  using exact = exact_sum<W>;
  using limits = std::numeric_limits<W>;
  using bits_t = std::conditional_t<sizeof(W) == 8, std::uint64_t, std::uint32_t>;

  static constexpr int fraction_bits = limits::digits - 1;
  static constexpr unsigned special_field = 2 * limits::max_exponent - 1;
  /// Lowest bit of the smallest subnormal, from the lowest bit of an `exact`.
  static constexpr int lowest = limits::min_exponent - limits::digits - exact::lowest_exponent;
  static constexpr int first_limb = lowest / 32;
  /// 24 or 53 bits at a shift of up to 31.
  static constexpr int digits = (limits::digits + 31 + 31) / 32;
  static constexpr int limbs =
      (lowest + static_cast<int>(special_field) - 2) / 32 + digits - first_limb;
  /// The word after the limbs is an `or` of these bits.
  static constexpr int special = limbs;
  static constexpr std::int64_t nan_bit = 1, plus_infinity_bit = 2, minus_infinity_bit = 4;
  /// 11 for float, 68 for double.
  static constexpr int words = limbs + 1;

  /// First limb in an exact_sum<T>.
  template <class T>
  static constexpr int first_limb_in =
      (exact::lowest_exponent - exact_sum<T>::lowest_exponent) / 32 + first_limb;

  /// Digits, added from `word` on; or the bit for `special`.
  struct contribution {
    std::int64_t digit[digits];
    int word;
    std::int64_t special_bit;  ///< 0 if finite
  };

  static TALLY_HOST_DEVICE contribution split(W weight) {
    const auto bits = __builtin_bit_cast(bits_t, weight);
    const auto field = static_cast<unsigned>(bits >> fraction_bits) & special_field;
    const std::uint64_t fraction = bits & ((bits_t{1} << fraction_bits) - 1);
    const std::int64_t sign = -static_cast<std::int64_t>(bits >> (8 * sizeof(W) - 1));
    contribution p{};
    if (field == special_field) {
      p.word = special;
      p.special_bit = fraction != 0 ? nan_bit : sign != 0 ? minus_infinity_bit : plus_infinity_bit;
      return p;
    }
    const std::uint64_t significand = fraction | std::uint64_t{field != 0} << fraction_bits;
    const unsigned position = lowest + field - (field != 0);
    const unsigned shift = position % 32;
    const std::uint64_t low = significand << shift;
    const auto with_sign = [sign](std::uint64_t digit) {
      return (static_cast<std::int64_t>(digit) ^ sign) - sign;
    };
    p.word = static_cast<int>(position / 32) - first_limb;
    p.digit[0] = with_sign(low & 0xffffffff);
    p.digit[1] = with_sign(low >> 32);
    if constexpr (digits > 2) p.digit[2] = with_sign(significand >> 1 >> (63 - shift));
    return p;
  }

  static TALLY_HOST_DEVICE void add(W weight, std::int64_t* to) {
    const contribution p = split(weight);
    if (p.special_bit != 0) {
      to[special] |= p.special_bit;
      return;
    }
    for (int i = 0; i < digits; ++i) to[p.word + i] += p.digit[i];
  }

  static TALLY_HOST_DEVICE void merge(const std::int64_t* from, std::int64_t* to) {
    for (int i = 0; i < limbs; ++i) to[i] += from[i];
    to[special] |= from[special];
  }

  /// Adds at most 2^30 weights to the words of an exact_sum<T>, changing each by less than 2^33.
  template <class T>
    requires(sizeof(T) >= sizeof(W))
  static TALLY_HOST_DEVICE void add_words(const std::int64_t* from, std::int64_t* to) {
    using all = exact_sum<T>;
    constexpr int first = first_limb_in<T>;
    static_assert(first + limbs < all::limbs);
    std::int64_t carry = 0;
    for (int i = 0; i < limbs; ++i) {
      to[first + i] += (from[i] & 0xffffffff) + carry;
      carry = from[i] >> 32;
    }
    to[first + limbs] += carry;
    to[all::nan_word] += (from[special] & nan_bit) != 0;
    to[all::plus_infinity_word] += (from[special] & plus_infinity_bit) != 0;
    to[all::minus_infinity_word] += (from[special] & minus_infinity_bit) != 0;
  }

  /// Copies the sum to words, initially 0, of an exact_sum<double>.
  static TALLY_HOST_DEVICE void copy_to_all(const std::int64_t* from, std::int64_t* words_of_all) {
    using all = exact_sum<double>;
    for (int i = 0; i < limbs; ++i) words_of_all[first_limb_in<double> + i] = from[i];
    words_of_all[all::nan_word] = (from[special] & nan_bit) != 0;
    words_of_all[all::plus_infinity_word] = (from[special] & plus_infinity_bit) != 0;
    words_of_all[all::minus_infinity_word] = (from[special] & minus_infinity_bit) != 0;
  }

  static exact_sum<double> sum_of(const std::int64_t* from) {
    std::int64_t words_of_all[exact_sum<double>::words] = {};
    copy_to_all(from, words_of_all);
    return sum_of_words(words_of_all);
  }

  /// The sum of at most 2^30 - 2 weights, and of `before` unless null.
  template <class R>
  static TALLY_HOST_DEVICE R round(const std::int64_t* from, const R* before) {
    // In doubles, as a double may have to be added to sums of floats.
    using all = exact_sum<double>;
    constexpr int first = first_limb_in<double>;
    std::int64_t words_of_all[all::words] = {};
    copy_to_all(from, words_of_all);
    if (before == nullptr) {
      return all::template round_words<R>(words_of_all, first, first + limbs + 1);
    }
    all sum = sum_of_words(words_of_all);
    sum.add(static_cast<double>(*before));
    return sum.template round<R>();
  }

  /// Sets `to` to the sum, or adds it; with `keeps` not a sum of 0.
  template <class R>
  static TALLY_HOST_DEVICE void put(const std::int64_t* from, bool add, bool keeps, R& to) {
    // Other numbers are unchanged by 0.
    if (keeps && !(to != 0 && to == to) && round<R>(from, nullptr) == 0) return;
    const R before = add ? to : R();
    to = round<R>(from, add ? &before : nullptr);
  }
};

/// Rounds the sum, or adds it to words. `C` is the type of `a.counts`.
template <class W, class C>
void finish_sum(const histogram_arguments& a, const std::int64_t* words, std::size_t k) {
  using sum = weight_sum<W>;
  if constexpr (sizeof(C) >= sizeof(W)) {
    if (a.words) {
      return sum::template add_words<C>(
          words, static_cast<std::int64_t*>(a.counts.data) + k * exact_sum<C>::words);
    }
  }
  sum::template put<C>(words, a.options.add, a.scatters, static_cast<C*>(a.counts.data)[k]);
}

}  // namespace tally::backends
