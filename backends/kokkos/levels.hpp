// Exact sums in levels: doubles whose additions round nothing, and limbs for the rest.
#pragma once

#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <cmath>
#include <cstdint>

namespace tally::backends::kokkos {

/// The largest exponent field of terms, with the interface of exact_sum.
class largest_exponent {
 public:
  KOKKOS_FUNCTION void add(double value) {
    const auto field = static_cast<int>(__builtin_bit_cast(std::uint64_t, value) >> 52 & 0x7ff);
    if (field > field_) field_ = field;
  }
  KOKKOS_FUNCTION void add_product(double a, double b) { add(a * b); }
  KOKKOS_FUNCTION int field() const { return field_; }

 private:
  int field_ = 0;
};

/// A thread's part of an exact sum of doubles and of products of two, by a team. Level k takes the
/// part of a term that is a multiple of its unit, 2^-32 times that of level k - 1, so sums of 2^20
/// parts are exact. Terms too large, too small or not finite, and what is left below the last
/// level, go to the team's limbs (tuning/kokkos.md: levels).
class level_sum {
  using limbs = exact_sum<double>;

 public:
  /// Parts of a team's terms in one level, at most.
  static constexpr std::size_t max_parts = std::size_t{1} << 19;

  /// @param words  those of an exact_sum, the team's.
  KOKKOS_FUNCTION explicit level_sum(std::int64_t* words) : words_(words) {}

  /// Puts the levels of a team's threads, which all call this before they add terms, around the
  /// largest exponent of some.
  template <class Member>
  KOKKOS_FUNCTION void start(const Member& team, const largest_exponent& some) {
    int field = is_usable(some.field()) ? some.field() : 0;
    team.team_reduce(Kokkos::Max<int>(field));
    if (field > 0) set_limit(field + headroom);
  }

  KOKKOS_FUNCTION void add(double value) {
    const int field = exponent_of(value);
    if (field >= limit_field_) {
      if (value == 0) return;
      if (!is_usable(field)) return deposit(words_, value);
      raise(field);
    }
    put<0>(value);
  }

  KOKKOS_FUNCTION void add_product(double a, double b) {
    const double high = a * b;
    const int field = exponent_of(high);
    if (field < smallest_field || field >= limit_field_) {
      if (high == 0 && (a == 0 || b == 0)) return;  // not of an infinity or NaN
      if (!is_usable(field)) return deposit_product(words_, a, b);
      raise(field);
    }
    put<0>(high);
    put<1>(multiply_add(a, b, -high));  // at most 2^-53 of `high`
  }

  /// Moves the levels of a team's threads, which all call this, to the limbs: those of one unit as
  /// one sum each.
  template <class Member>
  KOKKOS_FUNCTION void flush(const Member& team) {
    int field = limit_field_;
    team.team_reduce(Kokkos::Max<int>(field));
    if (limit_field_ < field) {
      const double own[levels] = {sums_[0], sums_[1], sums_[2], sums_[3], sums_[4]};
      for_each_sum([](double& sum) { sum = 0; });
      set_limit(field);
      for (const double sum : own) {
        if (exponent_of(sum) >= limit_field_) {
          deposit(words_, sum);
        } else if (sum != 0) {
          put<0>(sum);
        }
      }
    }
    for_each_sum([&](double sum) {
      team.team_reduce(Kokkos::Sum<double>(sum));
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        if (sum != 0) deposit(words_, sum);
      });
    });
  }

 private:
  static constexpr int levels = 5;
  /// Exponent fields of terms whose levels are normal numbers, and whose products' low parts are
  /// exact: magnitudes from 2^-700 to 2^900.
  static constexpr int smallest_field = 1023 - 700, largest_field = 1023 + 900;
  /// Bits of the limit above the term that it is found by.
  static constexpr int headroom = 24;

  KOKKOS_FUNCTION static bool is_usable(int field) {
    return field >= smallest_field && field < largest_field;
  }
  KOKKOS_FUNCTION static std::uint64_t bits_of(double value) {
    return __builtin_bit_cast(std::uint64_t, value);
  }
  KOKKOS_FUNCTION static int exponent_of(double value) {
    return static_cast<int>(bits_of(value) >> 52 & 0x7ff);
  }
  KOKKOS_FUNCTION static std::int64_t significand_of(double value) {
    const auto fraction = static_cast<std::int64_t>(bits_of(value) & 0xfffffffffffff);
    return exponent_of(value) == 0 ? fraction : fraction + (std::int64_t{1} << 52);
  }

  KOKKOS_FUNCTION void set_limit(int field) {
    limit_field_ = field;
    // 1.5 * 2^20 times the limit: adding it rounds to multiples of 2^-32 times the limit.
    anchor_ = (static_cast<std::uint64_t>(field + 20) << 52) + (std::uint64_t{1} << 51);
  }

  /// Calls f with each sum, in a register: a loop that isn't unrolled would take addresses.
  template <class F>
  KOKKOS_FUNCTION void for_each_sum(const F& f) {
    static_assert(levels == 5);
    f(sums_[0]);
    f(sums_[1]);
    f(sums_[2]);
    f(sums_[3]);
    f(sums_[4]);
  }

  /// Puts the levels around a term.
  KOKKOS_FUNCTION void raise(int field) {
    for_each_sum([&](double& sum) {
      if (sum != 0) deposit(words_, sum);
      sum = 0;
    });
    set_limit(field + headroom);
  }

  /// Moves the part of `rest` that is a multiple of level k's unit there.
  template <int k>
  KOKKOS_FUNCTION void take(double& rest) {
    const auto anchor =
        __builtin_bit_cast(double, anchor_ - (static_cast<std::uint64_t>(32 * k) << 52));
    const double part = (anchor + rest) - anchor;
    sums_[k] += part;
    rest -= part;
  }

  /// Adds to the levels from `first` on. Three take most numbers, so a test of each gains little.
  template <int first>
  KOKKOS_FUNCTION void put(double rest) {
    take<first>(rest);
    take<first + 1>(rest);
    take<first + 2>(rest);
    if (rest == 0) return;
    take<first + 3>(rest);
    if constexpr (first == 0) take<first + 4>(rest);
    if (rest != 0) deposit(words_, rest);
  }

  // Rare, and larger than the rest.

  KOKKOS_FUNCTION static void deposit(std::int64_t* words, std::int64_t significand, int exponent) {
    std::int64_t pieces[3];
    const int limb = limbs::split(significand, exponent, pieces);
    for (int k = 0; k < 3; ++k) {
      if (pieces[k] != 0) Kokkos::atomic_add(words + limb + k, pieces[k]);
    }
  }
  KOKKOS_FUNCTION static void deposit_special(std::int64_t* words, bool is_nan, bool is_negative) {
    Kokkos::atomic_add(words + (is_nan        ? limbs::nan_word
                                : is_negative ? limbs::minus_infinity_word
                                              : limbs::plus_infinity_word),
                       std::int64_t{1});
  }
  [[gnu::noinline]] KOKKOS_FUNCTION static void deposit(std::int64_t* words, double value) {
    const int field = exponent_of(value);
    if (field == 0x7ff) return deposit_special(words, value != value, value < 0);
    const std::int64_t significand = significand_of(value);
    deposit(words, value < 0 ? -significand : significand, (field == 0 ? 1 : field) - 1075);
  }
  [[gnu::noinline]] KOKKOS_FUNCTION static void deposit_product(std::int64_t* words, double a,
                                                                double b) {
    const int a_field = exponent_of(a), b_field = exponent_of(b);
    const bool is_negative = (bits_of(a) ^ bits_of(b)) >> 63 != 0;
    if (a_field == 0x7ff || b_field == 0x7ff) {
      return deposit_special(words, a != a || b != b || a == 0 || b == 0, is_negative);
    }
    // Halves of 26 and 27 bits.
    constexpr std::int64_t low_half = (std::int64_t{1} << 27) - 1;
    const std::int64_t x = significand_of(a), y = significand_of(b);
    const std::int64_t signed_x = is_negative ? -1 : 1;
    const std::int64_t x_half[2] = {signed_x * (x & low_half), signed_x * (x >> 27)};
    const std::int64_t y_half[2] = {y & low_half, y >> 27};
    const int exponent = (a_field == 0 ? 1 : a_field) + (b_field == 0 ? 1 : b_field) - 2150;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) deposit(words, x_half[i] * y_half[j], exponent + 27 * (i + j));
    }
  }

  KOKKOS_FUNCTION static double multiply_add(double a, double b, double c) {
#if KOKKOS_VERSION >= 40000
    return Kokkos::fma(a, b, c);
#else
    return std::fma(a, b, c);
#endif
  }

  double sums_[levels] = {};
  int limit_field_ = 0;       // exponents of terms lie below
  std::uint64_t anchor_ = 0;  // bits of level 0's
  std::int64_t* words_;
};

}  // namespace tally::backends::kokkos
