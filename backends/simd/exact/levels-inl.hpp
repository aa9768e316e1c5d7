// Tiles of terms in levels: vectors of accumulators in registers.
//
// Promise: a tile fits, which is checked, and its sums are exact; or nothing was added.
#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_EXACT_LEVELS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_LEVELS
#undef TALLY_BACKENDS_SIMD_EXACT_LEVELS
#else
#define TALLY_BACKENDS_SIMD_EXACT_LEVELS
#endif

#include "backends/simd/exact/terms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Extent of a tile's terms. A careful one distinguishes zeros from small terms.
template <class Terms, bool careful>
struct tile_extent {
  static constexpr bool paired = Terms::paired;
  // Upper halves of magnitudes. With `less_one`, `smallest` is less 1, which makes 0 the largest.
  halves largest, smallest;
  static constexpr bool less_one = Terms::digits < 53;

  HWY_INLINE void clear() {
    largest = hn::Zero(u32);
    smallest = hn::Set(u32, static_cast<hn::TFromD<D32>>(~std::uint64_t{0}));
  }

  /// Returns the upper halves of both vectors, in any order.
  static HWY_INLINE halves uppers(integer v, integer w) {
#if HWY_TARGET == HWY_SCALAR
    // never called: no levels
    return hn::Max(hn::ShiftRight<32>(v), hn::ShiftRight<32>(w));
#elif HWY_TARGET == HWY_AVX2  // keeping the order takes two instructions
    return halves{_mm256_castps_si256(_mm256_shuffle_ps(
        _mm256_castsi256_ps(v.raw), _mm256_castsi256_ps(w.raw), _MM_SHUFFLE(3, 1, 3, 1)))};
#else
    return hn::ConcatOdd(u32, hn::BitCast(u32, w), hn::BitCast(u32, v));
#endif
  }

  /// Returns magnitudes for `smallest`: the maximum for products with a factor 0. (Others may
  /// underflow to 0.)
  static HWY_INLINE integer counted(const factors& f, number h) {
    const integer magnitude = hn::BitCast(u64, hn::Abs(h));
    if constexpr (paired) {
      const auto zero = hn::Or(hn::Eq(f.a, hn::Zero(d64)), hn::Eq(f.b, hn::Zero(d64)));
      return hn::IfThenElse(hn::RebindMask(u64, zero), hn::Set(u64, ~std::uint64_t{0}), magnitude);
    } else {
      return hn::Sub(magnitude, hn::Set(u64, 1));
    }
  }

  HWY_INLINE void note(halves large, halves small) {
    largest = hn::Max(largest, large);
    if constexpr (less_one) small = hn::Sub(small, hn::Set(u32, 1));
    smallest = hn::Min(smallest, small);
  }

  HWY_INLINE void note_two(const factors& f, const factors& g, number h, number k) {
    const halves both =
        hn::And(uppers(hn::BitCast(u64, h), hn::BitCast(u64, k)), hn::Set(u32, 0x7fffffff));
    if constexpr (careful && !less_one) {
      note(both, uppers(counted(f, h), counted(g, k)));
    } else {
      note(both, both);
    }
  }

  /// The first n numbers are terms.
  HWY_INLINE void note_first(const factors& f, number h, std::size_t n) {
    const integer magnitude = hn::BitCast(u64, hn::Abs(h));
    integer small = careful && !less_one ? counted(f, h) : magnitude;
    if constexpr (!less_one) {
      small = hn::IfThenElse(hn::FirstN(u64, n), small, hn::Set(u64, ~std::uint64_t{0}));
    }
    note(uppers(magnitude, magnitude), uppers(small, small));
  }

  /// Whether all terms are below 2^top, and none but zeros below 2^(top - below).
  HWY_INLINE bool are_within(int top, int below) const {
    const auto ceiling = hn::Set(u32, (static_cast<std::uint32_t>(top + 1023) << 20) - 1);
    const auto floor = hn::Set(u32, static_cast<std::uint32_t>(top - below + 1023) << 20);
    const auto outside = hn::Or(hn::Xor(hn::Max(largest, ceiling), ceiling),
                                hn::Xor(hn::Min(smallest, floor), floor));
    return hn::AllTrue(u32, hn::Eq(outside, hn::Zero(u32)));
  }

  HWY_INLINE extent seen() const {
    return {static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(u32, largest))),
            static_cast<std::uint32_t>(hn::GetLane(hn::MinOfLanes(u32, smallest)))};
  }
};

/// A careful tile takes whatever fits its levels; a quick one nonzero doubles, or floats in one
/// level.
template <class Terms, bool careful>
struct tile_levels : tile_extent<Terms, careful> {
  static constexpr bool paired = Terms::paired;
  static constexpr std::size_t sets = Terms::sets;

  number s0[sets], s1[sets], s2[paired ? sets : 1], s3[paired ? sets : 1];
  static constexpr bool has_second = careful || !fits_one_level<Terms>;

  HWY_INLINE number bias(int k) const { return hn::BitCast(d64, hn::Set(u64, bias_bits(k))); }

  template <std::size_t... u>
  HWY_INLINE void start(std::index_sequence<u...>, int top) {
    const number b0 = bias(top + level_base(paired, 0)), b1 = bias(top + level_base(paired, 1));
    ((s0[u] = b0, s1[u] = b1), ...);
    if constexpr (paired) {
      const number b2 = bias(top + level_base(paired, 2)), b3 = bias(top + level_base(paired, 3));
      ((s2[u] = b2, s3[u] = b3), ...);
    }
    this->clear();
  }

  /// Adds a vector of terms and returns them, doubles rounded.
  template <std::size_t u>
  HWY_INLINE number add(const factors& f) {
    const number h = hn::Mul(f.a, f.b);
    const number t0 = has_fma ? hn::MulAdd(f.a, f.b, s0[u]) : hn::Add(s0[u], h);
    if constexpr (!has_second) {
      s0[u] = t0;
      return h;
    }
    const number taken = hn::Sub(t0, s0[u]);
    // Multipliers relieve the adders.
    number rest;
    if constexpr (has_fma) {
      rest = paired ? hn::NegMulAdd(hn::Set(d64, 1.0), taken, h) : hn::MulSub(f.a, f.b, taken);
    } else {
      rest = hn::Sub(h, taken);
    }
    s0[u] = t0;
    s1[u] = hn::Add(s1[u], rest);
    if constexpr (paired) {
      const number l = hn::MulSub(f.a, f.b, h);
      const number t2 = hn::Add(s2[u], l);
      const number low = hn::Sub(l, hn::Sub(t2, s2[u]));
      s2[u] = t2;
      s3[u] = hn::Add(s3[u], low);
    }
    return h;
  }

  template <std::size_t u>
  HWY_INLINE void add_two(const factors& f, const factors& g) {
    const number h = add<u>(f), k = add<u + 1>(g);
    this->note_two(f, g, h, k);
  }

  template <std::size_t u>
  HWY_INLINE void take_first(const factors& f, std::size_t n) {
    this->note_first(f, add<u>(f), n);
  }

  template <std::size_t... u>
  HWY_INLINE void step(std::index_sequence<u...>, const Terms& from, std::size_t i) {
    (add_two<2 * u>(from.at(i + 2 * u * doubles), from.at(i + (2 * u + 1) * doubles)), ...);
  }

  template <std::size_t... u>
  HWY_INLINE void rest(std::index_sequence<u...>, const Terms& from, std::size_t n) {
    ((n > u * doubles
          ? take_first<u>(from.from(u * doubles).first(std::min(doubles, n - u * doubles)),
                          std::min(doubles, n - u * doubles))
          : void()),
     ...);
  }

  HWY_INLINE void take(const Terms& terms, std::size_t n) {
    const std::size_t whole = n / step_terms<Terms> * step_terms<Terms>;
#pragma GCC unroll 1
    for (std::size_t i = 0; i < whole; i += step_terms<Terms>) {
      terms.prefetch_step(i);
      step(every_two<Terms>, terms, i);
    }
    if (n > whole) rest(every_set<Terms>, terms.from(whole), n - whole);
  }

  /// Whether terms were within the levels' window: nothing was lost.
  HWY_INLINE bool fit(int top) const {
    return this->are_within(top, careful ? window<Terms> : quick_window<Terms>);
  }

  template <std::size_t... u>
  HWY_INLINE integer bits(std::index_sequence<u...>, const number* s) const {
    integer sum = hn::Zero(u64);
    ((sum = hn::Add(sum, hn::BitCast(u64, s[u]))), ...);
    return sum;
  }

  /// Adds each level's bits, its units from the bias on, to `sums`.
  HWY_INLINE void drain(integer* sums) const {
    constexpr auto every = every_set<Terms>;
    sums[0] = hn::Add(sums[0], bits(every, s0));
    sums[1] = hn::Add(sums[1], bits(every, s1));
    if constexpr (paired) {
      sums[2] = hn::Add(sums[2], bits(every, s2));
      sums[3] = hn::Add(sums[3], bits(every, s3));
    }
  }
};

using level_sums = integer[4];

template <class Terms>
HWY_NOINLINE extent extent_of(const Terms terms, std::size_t n) {
  tile_levels<Terms, true> levels;
  levels.start(every_set<Terms>, 0);
  levels.take(terms, n);
  return levels.seen();
}

/// Adds at most a tile; or nothing if it doesn't fit, and sets `seen`.
template <class Terms, bool careful>
HWY_NOINLINE bool add_levels(const Terms terms, std::size_t n, intermediate_sum& to,
                             level_sums& sums, extent& seen) {
  tile_levels<Terms, careful> levels;
  levels.start(every_set<Terms>, to.top);
  levels.take(terms, n);
  if (!levels.fit(to.top)) {
    seen = levels.seen();
    if constexpr (careful || Terms::paired || fits_one_level<Terms>) {
      return false;
    } else {
      // Values were added as in a careful tile: if there are zeros, only the smallest other term is
      // missing.
      if (seen.smallest > 0) return false;
      to.careful = true;
      seen = extent_of(terms, n);
      levels.smallest = hn::Set(u32, seen.smallest);
      if (!levels.fit(to.top)) return false;
    }
  }
  levels.drain(sums);
  return true;
}

/// Returns a `top`, a quick tile's if possible.
template <class Terms>
HWY_INLINE std::optional<int> aim_at(const extent& e, bool careful) {
  if (const auto top = aim<quick_window<Terms>>(e); top && !careful) return top;
  return aim<window<Terms>>(e);
}

/// Quick until a tile needs care.
template <class Terms>
HWY_INLINE bool add_levels(const Terms terms, std::size_t n, intermediate_sum& to, level_sums& sums,
                           extent& seen) {
  constexpr bool of_doubles = Terms::digits == 53;
  if constexpr (of_doubles || fits_one_level<Terms>) {
    if (!to.careful) {
      if (add_levels<Terms, false>(terms, n, to, sums, seen)) return true;
      if (to.careful) return false;
      if (of_doubles ? seen.smallest > 0 : aim<quick_window<Terms>>(seen).has_value()) return false;
      to.careful = true;
    }
  }
  return add_levels<Terms, true>(terms, n, to, sums, seen);
}

/// Modulo 2^64. (GCC's reduction of AVX-512 registers adds signed numbers, which may overflow.)
HWY_INLINE std::uint64_t sum_of_numbers(integer v) {
  HWY_ALIGN std::uint64_t numbers[doubles];
  hn::Store(v, u64, numbers);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : numbers) sum += each;
  return sum;
}

/// Each step's biases were added `count` times.
template <class Terms>
HWY_INLINE void collect(const level_sums& sums, std::size_t count, intermediate_sum& to) {
  to.used = std::max(to.used, 2);
  for (int j = 0; j < min_levels<Terms::paired>; ++j) {
    const std::uint64_t biases =
        count * step_terms<Terms> * bias_bits(to.top + level_base(Terms::paired, j));
    to.levels[j] += static_cast<std::int64_t>(sum_of_numbers(sums[j]) - biases);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
