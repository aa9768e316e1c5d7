// Tiles of terms of a wider range, in more levels.
//
// Promise: as of other tiles.
#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_EXACT_DEEP_LEVELS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_DEEP_LEVELS
#undef TALLY_BACKENDS_SIMD_EXACT_DEEP_LEVELS
#else
#define TALLY_BACKENDS_SIMD_EXACT_DEEP_LEVELS
#endif

#include "backends/simd/exact/levels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// A deep tile takes a wider range of terms: accumulators per level; the rest of a term, and of a
/// product's error, passes through all levels. If there are registers, terms without errors have
/// two sets of accumulators, which don't wait for each other.
template <class Terms, int depth>
struct deep_levels : tile_extent<Terms, true> {
  static constexpr std::size_t sets = Terms::paired || !is_avx512 ? 1 : 2;
  number s[sets][depth];

  HWY_INLINE void start(int top) {
    for (auto& set : s) {
#pragma GCC unroll 8
      for (int j = 0; j < depth; ++j) {
        set[j] = hn::BitCast(d64, hn::Set(u64, bias_bits(top + level_base(false, j))));
      }
    }
    this->clear();
  }

  /// v becomes what level j leaves (tuning/exact.md: split).
  template <std::size_t set>
  HWY_INLINE void split(int j, number& v) {
    const auto one = hn::Set(d64, 1.0);
    const number t = has_fma && j % 2 == 1 ? hn::MulAdd(one, v, s[set][j]) : hn::Add(s[set][j], v);
    const number taken = hn::Sub(t, s[set][j]);
    v = has_fma ? hn::NegMulAdd(one, taken, v) : hn::Sub(v, taken);
    s[set][j] = t;
  }

  /// A product's error is below the second level's terms.
  template <std::size_t set>
  HWY_INLINE number add(const factors& f) {
    const number h = hn::Mul(f.a, f.b);
    number rest = h, error = h;
    if constexpr (Terms::paired) error = hn::MulSub(f.a, f.b, h);
    split<set>(0, rest);
#pragma GCC unroll 8
    for (int j = 1; j < depth - 1; ++j) {
      split<set>(j, rest);
      if constexpr (Terms::paired) split<set>(j, error);
    }
    number& last = s[set][depth - 1];
    last = hn::Add(last, rest);
    if constexpr (Terms::paired) last = hn::Add(last, error);
    return h;
  }

  HWY_INLINE void add_two(const Terms& from) {
    const factors f = from.at(0), g = from.at(doubles);
    const number h = add<0>(f);
    this->note_two(f, g, h, add<sets - 1>(g));
  }

  template <std::size_t set>
  HWY_INLINE void take_first(const Terms& from, std::size_t n) {
    const factors f = from.first(n);
    this->note_first(f, add<set>(f), n);
  }

  HWY_INLINE void take(const Terms& terms, std::size_t n) {
    constexpr std::size_t step = step_terms<Terms>;
    std::size_t i = 0;
#pragma GCC unroll 1
    for (; i + step <= n; i += step) {
      terms.prefetch_step(i);
      for (std::size_t j = 0; j < step; j += 2 * doubles) add_two(terms.from(i + j));
    }
#pragma GCC unroll 1
    for (; i < n; i += 2 * doubles) {
      take_first<0>(terms.from(i), std::min(n - i, doubles));
      if (i + doubles < n) {
        take_first<sets - 1>(terms.from(i + doubles), std::min(n - i - doubles, doubles));
      }
    }
  }

  /// Returns level j's bits, its units from the biases on.
  HWY_INLINE integer bits(int j) const {
    integer sum = hn::BitCast(u64, s[0][j]);
    if constexpr (sets > 1) sum = hn::Add(sum, hn::BitCast(u64, s[1][j]));
    return sum;
  }
};

/// Terms of a deep tile. Products and errors count twice.
template <class Terms>
constexpr std::size_t deep_tile_terms =
    tile_steps / (Terms::paired ? 2 : 1) * deep_levels<Terms, 3>::sets * doubles;

/// Adds deep tiles until one doesn't fit; returns the number of terms added. `seen`: extent of that
/// tile, or of all terms.
template <class Terms, int depth>
HWY_NOINLINE std::size_t add_deep_tiles(const Terms terms, std::size_t n, intermediate_sum& to,
                                        extent& seen) {
  integer sums[depth];
#pragma GCC unroll 8
  for (auto& sum : sums) sum = hn::Zero(u64);
  tile_extent<Terms, true> all;
  all.clear();
  std::size_t done = 0, count = 0;
  while (done < n) {
    const std::size_t tile = std::min(n - done, deep_tile_terms<Terms>);
    deep_levels<Terms, depth> levels;
    levels.start(to.top);
    levels.take(terms.from(done), tile);
    if (!levels.are_within(to.top, window<Terms, depth>)) {
      all = levels;
      break;
    }
    all.largest = hn::Max(all.largest, levels.largest);
    all.smallest = hn::Min(all.smallest, levels.smallest);
#pragma GCC unroll 8
    for (int j = 0; j < depth; ++j) sums[j] = hn::Add(sums[j], levels.bits(j));
    done += tile;
    ++count;
  }
  seen = all.seen();
  to.used = std::max(to.used, depth);
  for (int j = 0; j < depth; ++j) {
    const std::uint64_t biases = count * deep_levels<Terms, depth>::sets * doubles *
                                 bias_bits(to.top + level_base(false, j));
    to.levels[j] += static_cast<std::int64_t>(sum_of_numbers(sums[j]) - biases);
  }
  return done;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
