// Error-free addition of doubles to a floating-point expansion.
//
// A level, the expansion's component, is a double s that starts at a bias of 1.5 * 2^k and stays in
// [2^k, 2^(k+1)), a multiple of u = 2^(k-52). Of a small v it takes the nearest multiple of u; the
// rest, at most u/2, is known exactly and goes to the next level down. The bits of s minus those of
// the bias are the level's sum in units of u. This needs rounding to nearest and no contraction.
//
// Narrow levels are 2 or 3 in registers, for a tile whose terms fit their window, which is checked.
// Wide levels are exponent bins in memory, one per 42 bits; a term picks those that it needs.
//
// A term is a product x * y: `high` rounded, `low` the rest; or `high` alone, if products are exact
// in double, or without y.
#pragma once

#include <tally/numerics/exact_sum.hpp>
#include <tally/operands/types.hpp>

#include <cmath>
#include <cstdint>

namespace tally::backends::cuda {

/// Returns the upper word of |value|, ordered as magnitudes, with infinity and NaNs on top.
TALLY_HOST_DEVICE inline std::uint32_t magnitude_of(double value) {
  return static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, value) >> 32) & 0x7fffffffu;
}

/// Returns the upper word of 2^exponent.
TALLY_HOST_DEVICE constexpr std::uint32_t power_of_two(int exponent) {
  return static_cast<std::uint32_t>(exponent + 1023) << 20;
}

TALLY_HOST_DEVICE constexpr double from_upper_word(std::uint32_t word) {
  return __builtin_bit_cast(double, std::uint64_t{word} << 32);
}

TALLY_HOST_DEVICE inline std::int64_t bits_of(double value) {
  return __builtin_bit_cast(std::int64_t, value);
}

TALLY_HOST_DEVICE inline std::uint32_t bits_of(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
TALLY_HOST_DEVICE inline double from_bits(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}
TALLY_HOST_DEVICE inline float from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

/// Returns the upper word of 1.5 * 2^k.
TALLY_HOST_DEVICE constexpr std::uint32_t bias_word(int k) { return power_of_two(k) | 0x80000u; }

/// Adds to the level what it takes of v; v becomes the rest.
TALLY_HOST_DEVICE inline void split(double& level, double& v) {
  const double sum = level + v;
  v -= sum - level;
  level = sum;
}

/// Adds v to the level; returns whether it could not take all.
TALLY_HOST_DEVICE inline bool overflows_below(double& level, double v) {
  const double before = level;
  level += v;
  return level - before != v;
}

/// Returns the rounding error of `high`; exact if |high| >= smallest_split, or if x or y is 0.
TALLY_HOST_DEVICE inline double low_part(double x, double y, double high) {
  return fma(x, y, -high);
}
inline constexpr std::uint32_t smallest_split = power_of_two(-968);

constexpr int log2_of(int count) {
  int log = 0;
  while (1 << log < count) ++log;
  return log;
}

/// Returns term (load, i) of a tile, rounded. A tile has `loads` * `per_load` terms of a thread:
/// doubles x(load, i) and y(load, i) or, if not `paired`, high(load, i).
template <class Tile>
TALLY_HOST_DEVICE double high_part(const Tile& tile, int l, int i) {
  if constexpr (Tile::paired) {
    return tile.x(l, i) * tile.y(l, i);
  } else {
    return tile.high(l, i);
  }
}

// --- Narrow levels ---------------------------------------------------------------------------

/// Levels for tiles of up to `count` terms a thread, with sums in an exact_sum<T>.
template <class T, bool paired, int count>
struct narrow_levels {
  using sum = exact_sum<T>;
  static constexpr int levels = paired ? 3 : 2;
  /// Binades from a term's bound to the upper bias: a tile's sum stays below half of what would
  /// leave the binade.
  static constexpr int room = log2_of(count) + 2;
  /// Binades between biases: a lower level gets at most `count` times u/2 (the second one also low
  /// parts, 2^53 times smaller than terms).
  static constexpr int spacing = 51 - log2_of(count);
  /// Tiles before sums are taken, at most: 64 bits hold those of 32 threads.
  static constexpr int tiles = 128;

  /// Window: above magnitude_of of all terms. 0: none yet.
  std::uint32_t limit = 0;
  /// Sum of each level, in its units.
  std::int64_t sums[levels] = {};

  /// Returns the window for this magnitude, with room for 4 times as much.
  TALLY_HOST_DEVICE static std::uint32_t limit_for(std::uint32_t largest) {
    constexpr int of_sum = sum::lowest_exponent + 52;
    constexpr int lowest = (of_sum > -1022 ? of_sum : -1022) + (levels - 1) * spacing - room;
    constexpr int highest = 1022 - room;
    int exponent = static_cast<int>(largest >> 20) - 1022 + 2;
    exponent = exponent < lowest ? lowest : exponent > highest ? highest : exponent;
    return power_of_two(exponent);
  }

  TALLY_HOST_DEVICE std::uint32_t bias(int level) const {
    return limit + (static_cast<std::uint32_t>(room - level * spacing) << 20) + 0x80000u;
  }
  /// Returns the exponent of a level's unit.
  TALLY_HOST_DEVICE int exponent(int level) const {
    return static_cast<int>(limit >> 20) - 1023 - 52 + room - level * spacing;
  }

  /// Adds the tile up and returns whether the levels held it; `more` is for `commit`.
  template <class Tile>
  TALLY_HOST_DEVICE bool add(const Tile& tile, std::int64_t (&more)[levels]) const {
    // No array: it would lie in memory in some kernels (tuning/exact.md: narrow levels).
    double upper = from_upper_word(bias(0));
    double middle = from_upper_word(bias(1));
    double lower = from_upper_word(bias(2));
    bool lost = false;
    std::uint32_t largest = 0, smallest = ~0u;
#pragma unroll
    for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
      for (int i = 0; i < Tile::per_load; ++i) {
        double v = high_part(tile, l, i);
        const std::uint32_t magnitude = magnitude_of(v);
        largest = magnitude > largest ? magnitude : largest;
        if constexpr (paired) {
          smallest = magnitude < smallest ? magnitude : smallest;
          double low = low_part(tile.x(l, i), tile.y(l, i), v);
          split(upper, v);
          lost |= overflows_below(middle, v);
          split(middle, low);
          lost |= overflows_below(lower, low);
        } else {
          split(upper, v);
          lost |= overflows_below(middle, v);
        }
      }
    }
    bool holds = largest < limit && !lost;
    if constexpr (paired) {
      if (smallest < smallest_split) holds = holds && !underflows(tile);
    }
    more[0] = bits_of(upper) - bits_of(from_upper_word(bias(0)));
    more[1] = bits_of(middle) - bits_of(from_upper_word(bias(1)));
    if constexpr (paired) more[2] = bits_of(lower) - bits_of(from_upper_word(bias(2)));
    return holds;
  }

  /// Pre: `add` returned true.
  TALLY_HOST_DEVICE void commit(const std::int64_t (&more)[levels]) {
#pragma unroll
    for (int i = 0; i < levels; ++i) sums[i] += more[i];
  }

  template <class Tile>
  TALLY_HOST_DEVICE static std::uint32_t largest_of(const Tile& tile) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
      for (int i = 0; i < Tile::per_load; ++i) {
        const std::uint32_t magnitude = magnitude_of(high_part(tile, l, i));
        largest = magnitude > largest ? magnitude : largest;
      }
    }
    return largest;
  }

 private:
  /// Whether the low part of a product is inexact.
  template <class Tile>
  TALLY_HOST_DEVICE static bool underflows(const Tile& tile) {
    bool any = false;
#pragma unroll
    for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
      for (int i = 0; i < Tile::per_load; ++i) {
        const double x = tile.x(l, i), y = tile.y(l, i);
        any |= magnitude_of(x * y) < smallest_split && x != 0 && y != 0;
      }
    }
    return any;
  }
};

// --- Wide levels -----------------------------------------------------------------------------

/// What a thread met besides added terms.
namespace seen {
inline constexpr unsigned below = 1;  ///< of a lower exponent bank
inline constexpr unsigned above = 2;  ///< of a higher exponent bank
inline constexpr unsigned nan = 4;
inline constexpr unsigned plus_infinity = 8;
inline constexpr unsigned minus_infinity = 16;
inline constexpr unsigned special = nan | plus_infinity | minus_infinity;
}  // namespace seen

/// Exponent bins. Level i takes the part of a term below 2^(top - spacing * i) and above the next
/// level's; the rest goes to the levels after it. 168 bits from the first level's top on hold the
/// 106 of a product, and 126 the 53 of a double, wherever they begin.
///
/// Bins for exact_sum<double> reach over 2^+-462 only. Other, rare terms are added in another pass
/// for their exponent bank: bank b holds 2^(924 b +- 462), scaled to bank 0.
template <class T, bool paired>
struct wide_levels {
  static constexpr bool banked = std::same_as<T, double>;
  static constexpr int spacing = 42;
  static constexpr int top = banked ? 462 : 257;
  /// Levels in which terms start.
  static constexpr int starts = banked ? 22 : 12;
  static constexpr int levels = starts + (paired ? 3 : 2);
  static constexpr int bank_exponent = starts * spacing;
  static_assert(!banked || bank_exponent == 2 * top);
  static_assert(banked || top - 41 - (levels - 1) * spacing <= -298);  // the last unit
  /// Terms before a level's sum is taken, at most: each gives up to 1.5 * 2^41 units, so 680 fit.
  static constexpr int terms = 512;

  /// Returns the bias that rounds to multiples of a level's unit.
  TALLY_HOST_DEVICE static constexpr std::uint32_t bias(int level) {
    return bias_word(top + 11) - static_cast<std::uint32_t>(level) * (spacing << 20);
  }
  /// Returns a level's sum, in its units.
  TALLY_HOST_DEVICE static std::int64_t sum_of(double level, int i) {
    const double b = from_upper_word(bias(i));
    return bits_of(level + b) - bits_of(b);
  }
  TALLY_HOST_DEVICE static int exponent(int level, int bank) {
    return top - spacing * level - 41 + bank_exponent * bank;
  }

  /// Adds a tile to a column of levels `stride` doubles apart, each a multiple of its unit.
  template <int stride, class Tile>
  TALLY_HOST_DEVICE static void add(double* column, const Tile& tile, int bank, unsigned& what) {
    if constexpr (banked) {
      if (bank != 0) {
#pragma unroll
        for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
          for (int i = 0; i < Tile::per_load; ++i) {
            double x = tile.x(l, i), y = tile.y(l, i);
            scale(x, y, bank);
            add_term<stride>(column, x, y, x * y);
          }
        }
        return;
      }
    }
    bool all = true;
#pragma unroll
    for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
      for (int i = 0; i < Tile::per_load; ++i) {
        const double high = high_part(tile, l, i);
        if constexpr (paired) {
          all &= add_term<stride>(column, tile.x(l, i), tile.y(l, i), high);
        } else {
          all &= add_term<stride>(column, high, 1, high);
        }
      }
    }
    if (all) return;
#pragma unroll
    for (int l = 0; l < Tile::loads; ++l) {
#pragma unroll
      for (int i = 0; i < Tile::per_load; ++i) {
        const double high = high_part(tile, l, i);
        if constexpr (paired) {
          what |= look(tile.x(l, i), tile.y(l, i), high);
        } else {
          what |= look(high, 1, high);
        }
      }
    }
  }

 private:
  static constexpr std::uint32_t infinity = 0x7ff00000u;

  /// Whether the levels take terms of this magnitude.
  TALLY_HOST_DEVICE static bool takes(std::uint32_t magnitude) {
    if constexpr (!banked) return magnitude < infinity;
    return magnitude - power_of_two(-top) < power_of_two(top) - power_of_two(-top);
  }

  TALLY_HOST_DEVICE static double round_to(std::uint32_t bias, double v) {
    const double b = from_upper_word(bias);
    return v + b - b;
  }

  /// Adds a term and returns whether the levels took it. A term waits for the one before only at a
  /// common level; no branches.
  template <int stride>
  TALLY_HOST_DEVICE static bool add_term(double* column, double x, double y, double high) {
    std::uint32_t magnitude = magnitude_of(high);
    const bool taken = takes(magnitude);
    double low = 0;
    if constexpr (paired) low = low_part(x, y, high);
    if (!taken) {
      high = 0;
      low = 0;
      magnitude = power_of_two(top - 1);
    }
    // The term is below 2^(magnitude's exponent field - 1022).
    unsigned first = (static_cast<unsigned>(top + 1022) - (magnitude >> 20)) / spacing;
    if (!banked && first > starts - 1) first = starts - 1;
    const std::uint32_t upper = bias(static_cast<int>(first));
    const std::uint32_t middle = upper - (spacing << 20);
    const std::uint32_t lower = middle - (spacing << 20);
    const double v0 = round_to(upper, high);
    high -= v0;
    double v1 = round_to(middle, high);
    double v2 = high - v1;
    double* const at = column + first * stride;
    if constexpr (paired) {
      const double low1 = round_to(middle, low);
      low -= low1;
      const double low2 = round_to(lower, low);
      v1 += low1;
      v2 += low2;
      at[3 * stride] += low - low2;
    }
    at[0] += v0;
    at[stride] += v1;
    at[2 * stride] += v2;
    return taken;
  }

  /// Returns what a product is that bank 0 does not take, else 0.
  TALLY_HOST_DEVICE static unsigned look(double x, double y, double high) {
    const std::uint32_t magnitude = magnitude_of(high);
    if (takes(magnitude)) return 0;
    if (high != high) return seen::nan;
    if (magnitude >= infinity) {
      if (!banked || magnitude_of(x) >= infinity || magnitude_of(y) >= infinity) {
        return high > 0 ? seen::plus_infinity : seen::minus_infinity;
      }
    }
    if (magnitude >= power_of_two(top)) return seen::above;
    return x != 0 && y != 0 ? seen::below : 0;
  }

  /// Multiplies x * y by 2^(-924 bank): exact for products of that bank or near it, and no other
  /// comes into bank 0. (A factor scaled up alone is below 2^-231, one scaled down alone above
  /// 2^231; two, below 2^-312 or above 2^362.)
  TALLY_HOST_DEVICE static void scale(double& x, double& y, int bank) {
    const double factor = from_upper_word(power_of_two(bank > 0 ? -bank_exponent : bank_exponent));
    const bool x_is_larger = magnitude_of(x) >= magnitude_of(y);
    const bool both = bank > 1 || bank < -1;
    if (both || x_is_larger == (bank > 0)) x *= factor;
    if (both || x_is_larger != (bank > 0)) y *= factor;
  }
};

}  // namespace tally::backends::cuda
