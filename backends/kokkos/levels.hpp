// Exact sums in levels: doubles whose additions round nothing, and limbs for the rest.
#pragma once

#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <cmath>
#include <cstdint>

namespace tally::backends::kokkos {

/// A thread's part of an exact sum of doubles and of products of two, by a team. Level k takes the
/// part of a term that is a multiple of its unit, 2^-32 times that of level k - 1, so sums of 2^20
/// parts are exact. Terms too large, too small or not finite, and what is left below the last
/// level, go to the team's limbs (tuning/kokkos.md: levels).
class level_sum {
  using limbs = exact_sum<double>;

 public:
  /// Terms of a team, of up to 16 parts a level each.
  static constexpr std::size_t max_terms = std::size_t{1} << 15;

  /// @param words  those of an exact_sum, the team's.
  KOKKOS_FUNCTION explicit level_sum(std::int64_t* words) : words_(words) {}

  KOKKOS_FUNCTION void add(double value) {
    const double magnitude = value < 0 ? -value : value;
    if (!(magnitude < limit_)) {
      if (magnitude == 0) return;
      if (!(magnitude >= smallest && magnitude < largest)) return deposit(words_, value);
      raise(magnitude);
    }
    put<0>(value);
  }

  KOKKOS_FUNCTION void add_product(double a, double b) {
    const double high = a * b;
    const double magnitude = high < 0 ? -high : high;
    if (!(magnitude >= smallest && magnitude < largest)) {
      if (magnitude == 0 && (a == 0 || b == 0)) return;  // not of an infinity or NaN
      return deposit_product(words_, a, b);
    }
    if (!(magnitude < limit_)) raise(magnitude);
    put<0>(high);
    put<1>(multiply_add(a, b, -high));  // at most 2^-53 of `high`
  }

  /// Moves the levels of a team's threads, which all call this, to the limbs: those of one unit as
  /// one sum each.
  template <class Member>
  KOKKOS_FUNCTION void flush(const Member& team) {
    double limit = limit_;
    team.team_reduce(Kokkos::Max<double>(limit));
    if (limit_ < limit) {
      const double own[levels] = {sums_[0], sums_[1], sums_[2], sums_[3], sums_[4]};
      for_each_sum([](double& sum) { sum = 0; });
      set_limit(limit);
      for (const double sum : own) {
        if (!(sum < limit && -sum < limit)) {
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
  static constexpr double step = 0x1p-32;
  /// Magnitudes whose levels are normal numbers, and whose products' low parts are exact.
  static constexpr double smallest = 0x1p-700, largest = 0x1p900;

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

  KOKKOS_FUNCTION void set_limit(double limit) {
    limit_ = limit;
    anchor_ = limit * (1.5 * 0x1p20);  // adding it rounds to multiples of 2^-32 times `limit`
  }

  /// In registers: a loop that isn't unrolled would take the sums' addresses.
  template <class F>
  KOKKOS_FUNCTION void for_each_sum(const F& f) {
    static_assert(levels == 5);
    f(sums_[0]);
    f(sums_[1]);
    f(sums_[2]);
    f(sums_[3]);
    f(sums_[4]);
  }

  /// Puts the levels around a term, with room for terms 2^16 times as large.
  KOKKOS_FUNCTION void raise(double magnitude) {
    for_each_sum([&](double& sum) {
      if (sum != 0) deposit(words_, sum);
      sum = 0;
    });
    const auto field = static_cast<std::uint64_t>(exponent_of(magnitude));
    set_limit(__builtin_bit_cast(double, (field + 17) << 52));
  }

  /// Moves the part of `rest` that is a multiple of level k's unit there.
  template <int k>
  KOKKOS_FUNCTION void take(double& rest, double& anchor) {
    const double part = (anchor + rest) - anchor;
    sums_[k] += part;
    rest -= part;
    anchor *= step;
  }

  /// Adds to the levels from `first` on. Three take most numbers, so a test of each gains little.
  template <int first>
  KOKKOS_FUNCTION void put(double rest) {
    double anchor = first == 0 ? anchor_ : anchor_ * step;
    take<first>(rest, anchor);
    take<first + 1>(rest, anchor);
    take<first + 2>(rest, anchor);
    if (rest == 0) return;
    take<first + 3>(rest, anchor);
    if constexpr (first == 0) take<first + 4>(rest, anchor);
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
  double limit_ = 0;   // magnitudes of terms lie below
  double anchor_ = 0;  // of level 0
  std::int64_t* words_;
};

}  // namespace tally::backends::kokkos
