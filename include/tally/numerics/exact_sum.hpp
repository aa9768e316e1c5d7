// exact_sum: an error-free sum of doubles or of products of two.
//
// Promise: the exact real sum, for any order, partition and merging of terms; `round` rounds it
// once, to nearest even. Integer arithmetic only: no effect of rounding mode or flush to zero,
// equal bits in CUDA device code.
//
// Representation: fixed point in radix 2^32 with int64 limbs, to add terms without carrying, from
// below the smallest product of subnormals, 2^-2148, to 2^64 times the largest, 2^2048 (float:
// 2^-298 and 2^256).
//
// Capacity: |sum| < 2^2112 (float: 2^320), out of reach of 2^63 terms. Beyond it, a sum becomes NaN
// for good, and throws once on the host, when carries next reach the last limb, in `to_words` at
// the latest, unless back below; `round` before that gives an infinity.
//
// No limb overflows: a deposit adds less than 2^32 to a limb, and carries propagate after at most
// 2^30 deposits. Invariant: |limb| <= pending_*2^32; a propagated state or normal form counts as
// one deposit, and merging adds counts.
#pragma once

#include <tally/error.hpp>
#include <tally/numerics/rounding.hpp>
#include <tally/operands/types.hpp>

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace tally {

/// The exact sum of numbers of type T and of products of two. `double` covers `float`, which has a
/// fifth of the size. NaN after a NaN, 0 times infinity or both infinities; infinite after one.
template <float_or_double T>
class exact_sum {
  using limits = std::numeric_limits<T>;
  /// Exponent of the smallest subnormal.
  static constexpr int smallest = limits::min_exponent - limits::digits;

 public:
  /// Bits per limb's digit.
  static constexpr int radix_bits = 32;
  /// Bit 0 of limb 0 weighs 2^lowest_exponent.
  static constexpr int lowest_exponent = -((-2 * smallest + 31) / 32 * 32);
  /// Largest exponent of `add_scaled`, where |m|*2^exponent is within a product's bound.
  static constexpr int highest_exponent = 2 * limits::max_exponent - 63;
  /// Limb i weighs 2^(lowest_exponent + 32*i): 134 for double, 20 for float.
  static constexpr int limbs = (2 * limits::max_exponent + 64 - lowest_exponent) / 32;

  static constexpr int nan_word = limbs;                 ///< not 0 if a NaN occurred
  static constexpr int plus_infinity_word = limbs + 1;   ///< not 0 if +infinity occurred
  static constexpr int minus_infinity_word = limbs + 2;  ///< not 0 if -infinity occurred
  static constexpr int words = limbs + 3;                ///< limbs and these three

  /// Zero.
  TALLY_HOST_DEVICE constexpr exact_sum() {}

  /// Adds a number.
  TALLY_HOST_DEVICE void add(T value) {
    count(1);
    put(value);
  }

  /// Adds an exact product.
  TALLY_HOST_DEVICE void add_product(T x, T y) {
    count(1);
    put_product(x, y);
  }

  /// Adds a float, converted bitwise: the environment might flush.
  template <std::same_as<float> F>
    requires std::same_as<T, double>
  TALLY_HOST_DEVICE void add(F value) {
    add(detail::widened(value));
  }
  /// The same.
  template <float_or_double X, float_or_double Y>
    requires std::same_as<T, double>
  TALLY_HOST_DEVICE void add_product(X x, Y y) {
    add_product(detail::widened(x), detail::widened(y));
  }

  /// Adds m*2^exponent.
  /// @throws error invalid_argument unless m is 0 or the exponent in [`lowest_exponent`,
  ///               `highest_exponent`]; the sum is then NaN (on devices only that).
  TALLY_HOST_DEVICE void add_scaled(std::int64_t m, int exponent) {
    if (m == 0) return;
    if (exponent < lowest_exponent || exponent > highest_exponent) {
      words_[nan_word] = 1;
      return fail_exponent(exponent);
    }
    count(1);
    deposit(m, exponent);
  }

  /// Adds n numbers.
  TALLY_HOST_DEVICE void add(const T* values, std::size_t n) {
    in_blocks(n, [&](std::size_t i) { put(values[i]); });
  }
  /// The same.
  void add(std::span<const T> values) { add(values.data(), values.size()); }

  /// Adds n products x[i]*y[i].
  TALLY_HOST_DEVICE void add_products(const T* x, const T* y, std::size_t n) {
    in_blocks(n, [&](std::size_t i) { put_product(x[i], y[i]); });
  }
  /// The same.
  /// @throws error size_mismatch
  void add_products(std::span<const T> x, std::span<const T> y) {
    if (x.size() != y.size()) {
      throw error(errc::size_mismatch, "tally::exact_sum::add_products: x has " +
                                           std::to_string(x.size()) + " elements, y has " +
                                           std::to_string(y.size()));
    }
    add_products(x.data(), y.data(), x.size());
  }

  /// Adds another sum.
  TALLY_HOST_DEVICE void merge(const exact_sum& other) {
    touch(other.low_, other.high_);
    for (int i = other.low_; i < other.high_; ++i) words_[i] += other.words_[i];
    for (int i = limbs; i < words; ++i) words_[i] |= other.words_[i];
    pending_ += other.pending_;
    if (pending_ > deposits) propagate();
  }

  /// The sum, correctly rounded to nearest even: an infinity on overflow, +0 for an exact zero, a
  /// signed zero on underflow, the positive quiet NaN.
  template <float_or_double R>
  TALLY_HOST_DEVICE R round() const {
    return round_words<R>(words_, low_, high_);
  }

  /// The square root of the sum, correctly rounded; NaN if negative.
  template <float_or_double R>
  TALLY_HOST_DEVICE R round_root() const {
    return round_root_words<R>(words_, low_, high_);
  }

  /// Whether values are equal; NaN is unordered. (std::partial_ordering, so <=>, is host-only.)
  TALLY_HOST_DEVICE friend bool operator==(const exact_sum& a, const exact_sum& b) {
    return order(a, b) == 0;
  }
  /// Comparison by value.
  friend std::partial_ordering operator<=>(const exact_sum& a, const exact_sum& b) {
    const int sign = order(a, b);
    return sign == unordered ? std::partial_ordering::unordered : sign <=> 0;
  }

  /// The normal form, unique for a value. Limbs 0 to limbs - 2 are digits in [0, 2^32), the last
  /// one, in [-2^32, 2^32), carries the sign. A NaN or infinity is a 1 in its word, all others 0.
  /// For `from_words`, at most 2^30 may be added elementwise as 64-bit integers (MPI_SUM, ncclSum).
  /// @throws error invalid_argument beyond the capacity.
  TALLY_HOST_DEVICE void to_words(std::int64_t* result) const {
    for (int i = 0; i < words; ++i) result[i] = 0;
    if (const int kind = special_kind(words_)) {
      result[kind] = 1;
      return;
    }
    std::int64_t carry = 0;
    for (int i = low_; i < limbs - 1; ++i) {
      const std::int64_t v = words_[i] + carry;
      result[i] = v & digit_mask;
      carry = v >> radix_bits;
    }
    result[limbs - 1] = words_[limbs - 1] + carry;
    if (!within_capacity(result[limbs - 1])) {
      for (int i = 0; i < limbs; ++i) result[i] = 0;
      result[nan_word] = 1;
      fail_capacity();
    }
  }
  /// The same as an array.
  std::array<std::int64_t, std::size_t{words}> to_words() const {
    std::array<std::int64_t, std::size_t{words}> result;
    to_words(result.data());
    return result;
  }

  /// The sum of a normal form, or of zeros plus at most 2^30 normal forms and deposits (see
  /// `split`).
  /// @throws error invalid_argument beyond the capacity.
  TALLY_HOST_DEVICE static exact_sum from_words(const std::int64_t* from) {
    exact_sum sum;
    int low = 0, high = limbs;
    while (low < high && from[low] == 0) ++low;
    while (low < high && from[high - 1] == 0) --high;
    sum.touch(low, high);
    for (int i = low; i < high; ++i) sum.words_[i] = from[i];
    for (int i = limbs; i < words; ++i) sum.words_[i] = from[i] != 0;
    sum.propagate();
    return sum;
  }
  /// The same for a span or array.
  static exact_sum from_words(std::span<const std::int64_t, std::size_t{words}> from) {
    return from_words(from.data());
  }

  // For kernels that add atomically to words of their own, initially zero: at most 2^30 deposits
  // and normal forms; NaNs and infinities are positive words.

  /// Limb parts of m*2^exponent: add pieces[j] to limb (returned index) + j. Magnitudes below 2^32;
  /// only the last may be negative.
  TALLY_HOST_DEVICE static constexpr int split(std::int64_t m, int exponent,
                                               std::int64_t (&pieces)[3]) {
    const unsigned position = static_cast<unsigned>(exponent - lowest_exponent);
    const unsigned shift = position % radix_bits;
    const std::uint64_t low = static_cast<std::uint64_t>(m) << shift;
    pieces[0] = static_cast<std::int64_t>(low & digit_mask);
    pieces[1] = static_cast<std::int64_t>(low >> radix_bits);
    pieces[2] = m >> 1 >> (63 - shift);
    return static_cast<int>(position / radix_bits);
  }

  /// `round` of such words. Limbs outside [low, high) are 0, unread.
  template <float_or_double R>
  TALLY_HOST_DEVICE static R round_words(const std::int64_t* from, int low = 0, int high = limbs) {
    if (const int kind = special_kind(from)) return special_value<R>(kind);
    const auto l = detail::lead<limbs>(from, low, high);
    return detail::rounded<R>(l, weight(l.top));
  }

  /// `round_root` of such words.
  template <float_or_double R>
  TALLY_HOST_DEVICE static R round_root_words(const std::int64_t* from, int low = 0,
                                              int high = limbs) {
    if (const int kind = special_kind(from)) {
      return special_value<R>(kind == minus_infinity_word ? nan_word : kind);
    }
    const auto l = detail::lead<limbs>(from, low, high);
    return detail::rounded_root<R>(l, weight(l.top));
  }

 private:
  static constexpr std::int64_t digit_mask = 0xffffffff;
  /// At most, before carries propagate; twice as many after a merge still leave every limb below
  /// 2^63 - 2^32, room for a carry.
  static constexpr std::int64_t deposits = (std::int64_t{1} << 30) - 1;
  static constexpr int unordered = 2;
  using number = detail::float_parts<T>;

  TALLY_HOST_DEVICE static constexpr int weight(int limb) {
    return lowest_exponent + radix_bits * limb;
  }
  TALLY_HOST_DEVICE static constexpr bool within_capacity(std::int64_t last_limb) {
    return last_limb >> radix_bits == 0 || last_limb >> radix_bits == -1;
  }

  TALLY_HOST_DEVICE void touch(int low, int high) {
    low_ = low < low_ ? low : low_;
    high_ = high > high_ ? high : high_;
  }

  /// Reserves `more` deposits, at most `deposits` - 1.
  TALLY_HOST_DEVICE void count(std::int64_t more) {
    if (pending_ + more > deposits) propagate();
    pending_ += more;
  }

  template <class Put>
  TALLY_HOST_DEVICE void in_blocks(std::size_t n, Put put) {
    constexpr std::size_t block = std::size_t{1} << 20;
    for (std::size_t i = 0; i < n;) {
      const std::size_t end = n - i < block ? n : i + block;
      count(static_cast<std::int64_t>(end - i));
      for (; i < end; ++i) put(i);
    }
  }

  TALLY_HOST_DEVICE void put(T value) {
    const number v(value);
    if (v.special()) return add_special(v.nan(), v.sign);
    if (v.significand == 0) return;
    deposit((static_cast<std::int64_t>(v.significand) ^ v.sign) - v.sign, v.exponent);
  }

  TALLY_HOST_DEVICE void put_product(T x, T y) {
    const number a(x), b(y);
    const std::int64_t sign = a.sign ^ b.sign;
    if (a.special() || b.special()) {
      return add_special(a.nan() || b.nan() || a.zero() || b.zero(), sign);
    }
    if (a.significand == 0 || b.significand == 0) return;
    if constexpr (2 * limits::digits < 63) {
      const auto m = static_cast<std::int64_t>(a.significand * b.significand);
      deposit((m ^ sign) - sign, a.exponent + b.exponent);
    } else {
      deposit_product(a, b, sign);
    }
  }

  TALLY_HOST_DEVICE void deposit(std::int64_t m, int exponent) {
    std::int64_t pieces[3];
    const int first = split(m, exponent, pieces);
    touch(first, first + 3);
    words_[first] += pieces[0];
    words_[first + 1] += pieces[1];
    words_[first + 2] += pieces[2];
  }

  /// Products of doubles have 106 bits: five digits.
  TALLY_HOST_DEVICE void deposit_product(const number& a, const number& b, std::int64_t sign) {
    __extension__ using wide = __int128;
    const wide magnitude = static_cast<wide>(a.significand) * static_cast<wide>(b.significand);
    const wide product = (magnitude ^ sign) - sign;
    const auto low = static_cast<std::uint64_t>(product);
    const auto high = static_cast<std::int64_t>(product >> 64);
    const unsigned position = static_cast<unsigned>(a.exponent + b.exponent - lowest_exponent);
    const unsigned shift = position % radix_bits;
    const int first = static_cast<int>(position / radix_bits);
    const std::uint64_t low_bits = low << shift;
    const std::uint64_t high_bits =
        static_cast<std::uint64_t>(high) << shift | low >> 1 >> (63 - shift);
    touch(first, first + 5);
    words_[first] += static_cast<std::int64_t>(low_bits & digit_mask);
    words_[first + 1] += static_cast<std::int64_t>(low_bits >> radix_bits);
    words_[first + 2] += static_cast<std::int64_t>(high_bits & digit_mask);
    words_[first + 3] += static_cast<std::int64_t>(high_bits >> radix_bits);
    words_[first + 4] += high >> 1 >> (63 - shift);
  }

  TALLY_HOST_DEVICE void add_special(bool nan, std::int64_t sign) {
    words_[nan ? nan_word : sign < 0 ? minus_infinity_word : plus_infinity_word] = 1;
  }

  /// Carries over the touched limbs; the last keeps the sign.
  TALLY_HOST_DEVICE void propagate() {
    pending_ = 1;
    if (low_ >= high_) return;
    const int last = high_ < limbs ? high_ : limbs - 1;
    touch(last, last + 1);
    std::int64_t carry = 0;
    for (int i = low_; i < last; ++i) {
      const std::int64_t v = words_[i] + carry;
      words_[i] = v & digit_mask;
      carry = v >> radix_bits;
    }
    words_[last] += carry;
    if (last == limbs - 1 && !within_capacity(words_[last])) {
      words_[last] = 0;
      words_[nan_word] = 1;
      fail_capacity();
    }
  }

  // Device code can't throw.
  TALLY_HOST_DEVICE static void fail_capacity() {
#if !TALLY_DEVICE_CODE
    throw error(errc::invalid_argument, "tally::exact_sum: the sum is 2^" +
                                            std::to_string(lowest_exponent + radix_bits * limbs) +
                                            " or more in magnitude");
#endif
  }
  TALLY_HOST_DEVICE static void fail_exponent([[maybe_unused]] int exponent) {
#if !TALLY_DEVICE_CODE
    throw error(errc::invalid_argument, "tally::exact_sum::add_scaled: exponent " +
                                            std::to_string(exponent) + " is not in [" +
                                            std::to_string(lowest_exponent) + ", " +
                                            std::to_string(highest_exponent) + "]");
#endif
  }

  /// The special value's word; 0 if none.
  TALLY_HOST_DEVICE static int special_kind(const std::int64_t* from) {
    const bool plus = from[plus_infinity_word] != 0, minus = from[minus_infinity_word] != 0;
    if (from[nan_word] != 0 || (plus && minus)) return nan_word;
    return plus ? plus_infinity_word : minus ? minus_infinity_word : 0;
  }

  template <float_or_double R>
  TALLY_HOST_DEVICE static R special_value(int kind) {
    if (kind == nan_word) return detail::quiet_nan<R>();
    return detail::infinity<R>(kind == minus_infinity_word);
  }

  /// Sign of a - b, or `unordered`.
  TALLY_HOST_DEVICE static int order(const exact_sum& a, const exact_sum& b) {
    const int kind_a = special_kind(a.words_), kind_b = special_kind(b.words_);
    if (kind_a == nan_word || kind_b == nan_word) return unordered;
    if (kind_a != 0 || kind_b != 0) {
      const int rank_a = (kind_a == plus_infinity_word) - (kind_a == minus_infinity_word);
      const int rank_b = (kind_b == plus_infinity_word) - (kind_b == minus_infinity_word);
      return (rank_a > rank_b) - (rank_a < rank_b);
    }
    const int low = a.low_ < b.low_ ? a.low_ : b.low_;
    const int high = a.high_ > b.high_ ? a.high_ : b.high_;
    return detail::compare_digits(a.words_, b.words_, low, high);
  }

  std::int64_t words_[std::size_t{words}] = {};
  // Limbs outside [low_, high_) are 0.
  int low_ = limbs;
  int high_ = 0;
  std::int64_t pending_ = 0;
};

}  // namespace tally
