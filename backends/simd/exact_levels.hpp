// The levels and the bins in which the exact grade holds one sum, as far as they are the same for
// all instruction sets.
//
// Promise: whatever they take, they take without error.
#pragma once

#include <tally/exact_sum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

namespace tally::backends::simd {

__extension__ using wide_integer = __int128;

// --- Levels --------------------------------------------------------------------------------------

/// A level adds up so many steps, which are a tile, before it is drained.
constexpr int steps_log = 6;
constexpr std::size_t tile_steps = std::size_t{1} << steps_log;

/// A level leaves half of its unit at most, so the next one's bias is so many binades below its
/// own.
constexpr int level_spacing = 52 - steps_log;
/// A sum has at most so many levels.
constexpr int most_levels = 6;

/// Terms below 2^top in magnitude go to levels biased by 1.5 * 2^(top + this). The first level has
/// the term, each of the others what the one before leaves. Where errors of products are apart, the
/// third of four levels begins with them.
constexpr int level_base(bool errors_apart, int j) {
  return errors_apart && j >= 2 ? steps_log - 53 - (j - 2) * level_spacing
                                : steps_log + 1 - j * level_spacing;
}
/// Two levels are for terms, and of products of doubles two more are for errors.
template <bool paired>
constexpr int least_levels = paired ? 4 : 2;

/// Within these bounds of `top` the biases of the first two levels (of products of doubles all
/// four), the floor of their windows and the error of the smallest product are normal numbers, and
/// the first level is finite: it may come to 2^(top + steps_log + 2) when all its terms round up.
constexpr int lowest_top = -920;
constexpr int highest_top = 1021 - steps_log;

constexpr std::uint64_t bias_bits(int k) {
  return (static_cast<std::uint64_t>(k + 1023) << 52) | (std::uint64_t{1} << 51);
}

/// Has the upper halves of the largest magnitude, and of the smallest that is not 0.
struct extent {
  std::uint32_t largest, smallest;
};

/// Returns a `top` that holds these magnitudes, with some room on either side, `most_above` at
/// most.
template <int window, int lowest = lowest_top, int most_above = window < 32 ? 2 : 6>
[[gnu::always_inline]] inline std::optional<int> aim(const extent& e) {
  const int low = std::max(static_cast<int>(e.largest >> 20) - 1022, lowest);
  const int high = std::min(static_cast<int>(e.smallest >> 20) - 1023 + window, highest_top);
  if (low > high) return {};
  return low + std::min((high - low) / 4, most_above);
}

/// Adds m * 2^exponent, which is beyond what one product reaches. (It is no part of its caller,
/// since it takes more of the stack.)
[[gnu::noinline]] inline void add_large_integer(std::int64_t m, int exponent,
                                                exact_sum<double>& to) {
  using exact = exact_sum<double>;
  std::int64_t words[exact::words] = {}, pieces[3];
  const int first = exact::split(m, exponent, pieces);
  for (int i = 0; i < 3; ++i) words[first + i] = pieces[i];
  to.merge(exact::from_words(words));
}

/// Adds m * 2^exponent, which has no digit below those of products.
inline void add_integer(std::int64_t m, int exponent, exact_sum<double>& to) {
  using exact = exact_sum<double>;
  if (const int below = exact::lowest_exponent - exponent; below > 0) {
    m = below < 64 ? m >> below : 0;  // these digits are 0
    exponent = exact::lowest_exponent;
  }
  exponent <= exact::highest_exponent ? to.add_scaled(m, exponent)
                                      : add_large_integer(m, exponent, to);
}

// --- Bins ----------------------------------------------------------------------------------------

/// Holds sums of significands, by their exponents, for terms that levels don't hold. An addition is
/// so little work that two additions to the same bin, of which the second waits for the first, must
/// be rare: with 67 words of 64 bits, as one long integer, a product took 5.9 ns instead of 2.2
/// (Zen 4); and with two exponents a bin, which must be emptied twice as often, 1.2 times as long.
///
/// The bins take 16 KiB of the stack, so all sums of a call take turns with the same ones.
struct exponent_bins {
  static constexpr std::size_t count = 2048;
  static constexpr std::size_t group = 32;   ///< so many bins are drained at a time
  static constexpr std::size_t batch = 128;  ///< so many significands are added at a time
  static constexpr std::uint64_t one = std::uint64_t{1} << 52;  ///< the first bit of a significand
  /// So many significands are below 2^63 together.
  static constexpr std::size_t capacity = std::size_t{1} << 10;

  /// So many bins behind the others are for zeros, and nobody reads them. One would make many zeros
  /// wait for each other.
  static constexpr std::size_t zeros = 16;

  std::int64_t sums[count + zeros];     ///< set from `first` to `last`; for zeros by `belong_to`
  std::size_t first = count, last = 0;  ///< whole groups; all other bins would be 0
  exact_sum<double>* owner = nullptr;   ///< the sum that the terms in them belong to
  int scale = 0;                        ///< they have 2^scale times what belongs to the sum
  std::size_t room = capacity;          ///< so many significands can be added

  /// It leaves the bins as they are: without a constructor GCC 12 clears the memory.
  exponent_bins() {}

  /// Gives the bins to a sum. They are empty.
  void belong_to(exact_sum<double>& sum, int scale_of_terms) {
    if (owner == nullptr) std::fill_n(sums + count, zeros, 0);
    owner = &sum;
    scale = scale_of_terms;
  }

  /// Makes these bins usable, and all between them and the others.
  void cover(std::size_t least, std::size_t largest) {
    const std::size_t from = least / group * group, to = (largest / group + 1) * group;
    if (first >= last) first = last = from;
    for (; first > from; --first) sums[first - 1] = 0;
    for (; last < to; ++last) sums[last] = 0;
  }
};

// --- A sum in the making -------------------------------------------------------------------------

/// Has room for a sum. (GCC 12 clears all of an empty std::optional.)
struct room_for_sum {
  alignas(exact_sum<double>) std::byte bytes[sizeof(exact_sum<double>)];
};

/// Has what levels and bins hold of one sum, and where it goes in the end.
class held_sum {
 public:
  held_sum(exact_sum<double>& sum, exponent_bins& held_bins) : bins(held_bins), made_(&sum) {}
  /// The sum is made there where levels don't hold all terms: that takes as long as to add 100.
  held_sum(room_for_sum& room, exponent_bins& held_bins) : bins(held_bins), room_(&room) {}

  exponent_bins& bins;
  int scale = 0;       ///< levels and bins hold 2^scale times what belongs to the sum
  double special = 0;  ///< the sum of the infinities and NaN so far: then no other terms count
  bool aimed = false;
  bool careful = false;  ///< whether there was a tile that a quick one didn't take
  int top = 0;
  int depth = 2;    ///< so many levels the next tile's terms have, where errors are not apart
  int deepest = 2;  ///< and may have
  int used = 0;     ///< so many of those levels may hold something
  wide_integer levels[most_levels] = {};
  std::size_t failed = 0;   ///< how many of the last tiles levels did not hold
  std::size_t untried = 0;  ///< so many of the next terms don't try the levels

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
    std::fill_n(levels, most_levels, 0);
    used = 0;
  }

  /// Rounds the sum where it was not made, or its root.
  template <bool paired, class R>
  R round_levels(bool root) const {
    return used > 2 ? round_deep_levels<R>(root)
                    : round_levels<paired, R, least_levels<paired>>(root);
  }

 private:
  template <class R>
  [[gnu::noinline]] R round_deep_levels(bool root) const {
    return round_levels<false, R, most_levels>(root);
  }

  template <bool paired, class R, int count>
  R round_levels(bool root) const {
    using exact = exact_sum<double>;
    constexpr int lowest = level_base(paired, count - 1);
    std::int64_t pieces[3];
    constexpr int bits = level_base(paired, 0) - lowest + 2 * 63;
    const int low = exact::split(0, top + lowest - 52, pieces);
    const int high = low + bits / exact::radix_bits + 2;
    std::int64_t words[exact::words];  // only those from low on, and the last, are looked at
    std::fill_n(words + low, high - low, 0);
    std::fill_n(words + exact::limbs, exact::words - exact::limbs, 0);
    for_each_part<paired>([&](std::int64_t m, int exponent) {
      const int first = exact::split(m, exponent, pieces);
      for (int i = 0; i < 3; ++i) words[first + i] += pieces[i];
    });
    return root ? exact::round_root_words<R>(words, low, high)
                : exact::round_words<R>(words, low, high);
  }

  /// Calls f(m, exponent) for the parts m * 2^exponent of what the levels hold.
  template <bool paired, class F>
  void for_each_part(const F& f) const {
    const bool errors_apart = paired && used <= 2;
    const int count = errors_apart ? least_levels<paired> : used;
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

/// Bins, and what holds terms that are multiplied by a power of two before they are added, since
/// they are too large or too small for levels. All sums of a call take turns with that too.
struct shared_bins : exponent_bins {
  held_sum* scaled = nullptr;  ///< null if there was no such term

  /// Returns what holds terms of a sum that are multiplied by 2^exponent.
  template <bool paired>
  held_sum& scaled_of(held_sum& whole, int exponent) {
    if (scaled != nullptr && &scaled->sum() == &whole.sum() && scaled->scale == exponent) {
      return *scaled;
    }
    if (scaled != nullptr) scaled->template flush_levels<paired>();
    scaled = new (bytes_) held_sum(whole.sum(), *this);
    scaled->scale = exponent;
    return *scaled;
  }

 private:
  alignas(held_sum) std::byte bytes_[sizeof(held_sum)];
};

}  // namespace tally::backends::simd
