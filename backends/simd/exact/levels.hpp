// Levels (a floating-point expansion) and exponent bins of an exact sum.
//
// Promise: all additions are exact.
#pragma once

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

namespace tally::backends::simd {

__extension__ using wide_integer = __int128;

// --- Levels --------------------------------------------------------------------------------------

/// log2 of the steps of a tile, after which levels are drained.
constexpr int steps_log = 6;
constexpr std::size_t tile_steps = std::size_t{1} << steps_log;

/// Binades between biases: a level leaves at most half of its unit.
constexpr int level_spacing = 52 - steps_log;
constexpr int max_levels = 6;

/// Exponent, relative to `top`, of level j's bias 1.5 * 2^k for terms below 2^top. Each level takes
/// what the one before leaves; with `errors_apart`, the third of four begins with products' errors.
constexpr int level_base(bool errors_apart, int j) {
  return errors_apart && j >= 2 ? steps_log - 53 - (j - 2) * level_spacing
                                : steps_log + 1 - j * level_spacing;
}
/// Two for terms, and for products of doubles two for errors.
template <bool paired>
constexpr int min_levels = paired ? 4 : 2;

/// Bounds of `top`: the least levels' biases, their windows' floors and the smallest product's
/// error are normal; the first level is at most 2^(top + steps_log + 2), which is finite.
constexpr int min_top = -920;
constexpr int max_top = 1021 - steps_log;

constexpr std::uint64_t bias_bits(int k) {
  return (static_cast<std::uint64_t>(k + 1023) << 52) | (std::uint64_t{1} << 51);
}

/// Upper halves of the largest magnitude and the smallest nonzero one.
struct extent {
  std::uint32_t largest, smallest;
};

/// Returns a `top` for these magnitudes, with some room, at most `max_above` above.
template <int window, int lowest = min_top, int max_above = window < 32 ? 2 : 6>
[[gnu::always_inline]] inline std::optional<int> aim(const extent& e) {
  const int low = std::max(static_cast<int>(e.largest >> 20) - 1022, lowest);
  const int high = std::min(static_cast<int>(e.smallest >> 20) - 1023 + window, max_top);
  if (low > high) return {};
  return low + std::min((high - low) / 4, max_above);
}

/// Adds m * 2^exponent beyond the range of products. Not inlined, for the stack's sake.
[[gnu::noinline]] inline void add_large_integer(std::int64_t m, int exponent,
                                                exact_sum<double>& to) {
  using exact = exact_sum<double>;
  std::int64_t words[exact::words] = {}, pieces[3];
  const int first = exact::split(m, exponent, pieces);
  for (int i = 0; i < 3; ++i) words[first + i] = pieces[i];
  to.merge(exact::from_words(words));
}

/// @pre m * 2^exponent has no digits below those of products.
inline void add_integer(std::int64_t m, int exponent, exact_sum<double>& to) {
  using exact = exact_sum<double>;
  if (const int below = exact::lowest_exponent - exponent; below > 0) {
    m = below < 64 ? m >> below : 0;  // these digits are 0
    exponent = exact::lowest_exponent;
  }
  exponent <= exact::highest_exponent ? to.add_scaled(m, exponent)
                                      : add_large_integer(m, exponent, to);
}

// --- Exponent bins -------------------------------------------------------------------------------

/// Sums by exponent of terms that levels don't hold: any finite ones. A bin takes 16 binades, and
/// keeps error-free parts of its terms (tuning/exact.md: exponent_bins). 16 KiB of the stack,
/// shared by all sums of a call.
struct exponent_bins {
  static constexpr std::size_t count = 256;
  static constexpr int binades = 16;
  static constexpr std::size_t group = 2;  ///< bins drained at a time
  /// Sums per bin: rows of parts. Terms add to rows in turn and rarely wait for each other.
  static constexpr std::size_t sums_per_bin = 8;
  /// Terms whose parts are sums without error.
  static constexpr std::size_t capacity = std::size_t{1} << 18;

  alignas(64) double sums[count * sums_per_bin];  ///< valid from `first` to `last`
  std::size_t first = count, last = 0;            ///< whole groups; all other bins are 0
  /// Exponent fields of factors whose products have valid bins; of other terms the first.
  std::uint32_t least[2] = {~0u, ~0u}, largest[2] = {0, 0};
  exact_sum<double>* owner = nullptr;  ///< sum to which the terms belong
  std::size_t room = capacity;         ///< terms that can be added
  int unusual = 0;                     ///< next blocks where zeros or subnormal numbers are likely

  /// Leaves `sums` uninitialized: without this GCC 12 clears the memory.
  exponent_bins() {}

  /// Makes bins of fields from `low` to `high` valid, and any up to those in use.
  void cover(std::size_t low, std::size_t high) {
    const std::size_t from = low / binades / group * group;
    const std::size_t to = (high / binades / group + 1) * group;
    if (first >= last) first = last = from;
    if (from < first) {
      std::fill(sums + from * sums_per_bin, sums + first * sums_per_bin, 0.0);
      first = from;
    }
    if (to > last) {
      std::fill(sums + last * sums_per_bin, sums + to * sums_per_bin, 0.0);
      last = to;
    }
  }
};

// --- Intermediate sums ---------------------------------------------------------------------------

/// Storage for a sum. (GCC 12 clears an empty std::optional.)
struct room_for_sum {
  alignas(exact_sum<double>) std::byte bytes[sizeof(exact_sum<double>)];
};

/// Levels and bins of one sum, and its destination.
class intermediate_sum {
 public:
  intermediate_sum(exact_sum<double>& sum, exponent_bins& held_bins)
      : bins(held_bins), made_(&sum) {}
  /// Constructs the sum only where needed: that takes as long as 100 additions.
  intermediate_sum(room_for_sum& room, exponent_bins& held_bins) : bins(held_bins), room_(&room) {}

  exponent_bins& bins;
  int scale = 0;       ///< log2 of the levels' scale
  double special = 0;  ///< sum of infinities and NaN; if nonzero, other terms don't count
  bool aimed = false;
  bool careful = false;  ///< whether a quick tile failed
  int top = 0;
  int depth = 2;    ///< levels of the next tile, if errors are not apart
  int deepest = 2;  ///< maximum of `depth`
  int used = 0;     ///< levels that may be nonzero
  wide_integer levels[max_levels] = {};
  std::size_t failed = 0;   ///< consecutive tiles that levels didn't hold
  std::size_t untried = 0;  ///< next terms that don't try levels

  bool is_made() const { return made_ != nullptr; }
  exact_sum<double>& sum() {
    if (made_ == nullptr) made_ = new (room_->bytes) exact_sum<double>;
    return *made_;
  }

  void add_special(double value) {
    special += value;
    sum().add(special);
  }

  template <bool paired>
  void flush_levels() {
    for_each_part<paired>(
        [&](std::int64_t m, int exponent) { add_integer(m, exponent - scale, sum()); });
    std::fill_n(levels, max_levels, 0);
    used = 0;
  }

  /// Rounds the sum, or its root, from levels.
  template <bool paired, class R>
  R round_levels(bool root) const {
    return used > 2 ? round_deep_levels<R>(root)
                    : round_levels<paired, R, min_levels<paired>>(root);
  }

 private:
  template <class R>
  [[gnu::noinline]] R round_deep_levels(bool root) const {
    return round_levels<false, R, max_levels>(root);
  }

  template <bool paired, class R, int count>
  R round_levels(bool root) const {
    using exact = exact_sum<double>;
    constexpr int lowest = level_base(paired, count - 1);
    std::int64_t pieces[3];
    constexpr int bits = level_base(paired, 0) - lowest + 2 * 63;
    const int low = exact::split(0, top + lowest - 52, pieces);
    const int high = low + bits / exact::radix_bits + 2;
    std::int64_t words[exact::words];  // read from low on only, and specials
    std::fill_n(words + low, high - low, 0);
    std::fill_n(words + exact::limbs, exact::words - exact::limbs, 0);
    for_each_part<paired>([&](std::int64_t m, int exponent) {
      const int first = exact::split(m, exponent, pieces);
      for (int i = 0; i < 3; ++i) words[first + i] += pieces[i];
    });
    return root ? exact::round_root_words<R>(words, low, high)
                : exact::round_words<R>(words, low, high);
  }

  /// Calls f(m, exponent) for the levels' parts m * 2^exponent.
  template <bool paired, class F>
  void for_each_part(const F& f) const {
    const bool errors_apart = paired && used <= 2;
    const int count = errors_apart ? min_levels<paired> : used;
    for (int j = 0; j < count; ++j) {
      if (levels[j] == 0) continue;
      const int unit = top + level_base(errors_apart, j) - 52;
      const auto all = static_cast<std::int64_t>(levels[j]);
      if (all == levels[j]) {
        f(all, unit);
      } else {
        f(static_cast<std::int64_t>(levels[j] & ((wide_integer{1} << 62) - 1)), unit);
        f(static_cast<std::int64_t>(levels[j] >> 62), unit + 62);
      }
    }
  }

  exact_sum<double>* made_ = nullptr;
  room_for_sum* room_ = nullptr;
};

/// Bins, and the intermediate sum of scaled terms, too large or too small for levels. Shared by all
/// sums of a call.
struct shared_bins : exponent_bins {
  intermediate_sum* scaled = nullptr;  ///< null without such terms

  /// Returns the intermediate sum of terms scaled by 2^exponent.
  template <bool paired>
  intermediate_sum& scaled_of(intermediate_sum& whole, int exponent) {
    if (scaled != nullptr && &scaled->sum() == &whole.sum() && scaled->scale == exponent) {
      return *scaled;
    }
    if (scaled != nullptr) scaled->template flush_levels<paired>();
    scaled = new (bytes_) intermediate_sum(whole.sum(), *this);
    scaled->scale = exponent;
    return *scaled;
  }

 private:
  alignas(intermediate_sum) std::byte bytes_[sizeof(intermediate_sum)];
};

}  // namespace tally::backends::simd
