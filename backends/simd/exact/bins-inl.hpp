// Terms that levels don't hold, in exponent bins.
//
// Promise: exact sums. Bins are drained before they overflow.
#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_EXACT_BINS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_BINS
#undef TALLY_BACKENDS_SIMD_EXACT_BINS
#else
#define TALLY_BACKENDS_SIMD_EXACT_BINS
#endif

#include "backends/simd/exact/levels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class Terms>
HWY_NOINLINE void add_one_by_one(const Terms terms, std::size_t n, intermediate_sum& to) {
  const auto& plain = terms.as_they_are();
  for (std::size_t i = 0; i < n; ++i) to.sum().add_product(plain.a(i), plain.b(i));
}

/// Returns the sum of products with an infinite or NaN factor, else 0.
template <class Terms>
HWY_NOINLINE double specials_of(const Terms terms, std::size_t n) {
  const auto zero = hn::Zero(d64);
  auto sum = zero;
  const auto add = [&](const auto& f) HWY_ATTR {
    const auto nothing = hn::Add(hn::Sub(f.a, f.a), hn::Sub(f.b, f.b));  // 0 for finite factors
    const auto a = hn::IfThenZeroElse(hn::Eq(nothing, zero), f.a);
    sum = hn::Add(sum, hn::Mul(a, hn::IfThenZeroElse(hn::Eq(nothing, zero), f.b)));
  };
  std::size_t i = 0;
  for (; i + doubles <= n; i += doubles) add(terms.at(i));
  if (i < n) add(terms.from(i).first(n - i));
  HWY_ALIGN double lanes[doubles];
  hn::Store(sum, d64, lanes);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

/// Adds terms to a sum with an infinity or a NaN: only such terms count, none after a NaN.
template <class Terms>
HWY_NOINLINE void add_specials(const Terms terms, std::size_t n, intermediate_sum& to) {
  constexpr std::size_t block = 4096;
  for (std::size_t i = 0; i < n && to.special == to.special; i += block) {
    to.special += specials_of(terms.from(i), std::min(n - i, block));
  }
  to.sum().add(to.special);
}

/// Empties the bins. 32 of them make one integer, from upper and lower halves, whose sums fit 64
/// bits.
HWY_NOINLINE void drain(exponent_bins& from) {
  constexpr std::size_t group = exponent_bins::group;
  constexpr std::uint64_t half = 0xffffffff, sign = std::uint64_t{1} << 63;
  from.room = exponent_bins::capacity;
  for (std::size_t first = from.first; first < from.last; first += group) {
    auto* const bins = reinterpret_cast<std::uint64_t*>(from.sums + first);
    auto any = hn::Zero(u64);
    for (std::size_t i = 0; i < group; i += doubles) any = hn::Or(any, hn::LoadU(u64, bins + i));
    if (hn::AllTrue(u64, hn::Eq(any, hn::Zero(u64)))) continue;
    auto low = hn::Zero(u64), high = hn::Zero(u64);
    for (std::size_t i = 0; i < group; i += doubles) {
      const auto up = hn::Iota(u64, i);
      const auto sums = hn::LoadU(u64, bins + i);
      low = hn::Add(low, hn::Shl(hn::And(sums, hn::Set(u64, half)), up));
      high = hn::Add(high, hn::Shl(hn::ShiftRight<32>(hn::Xor(sums, hn::Set(u64, sign))), up));
      hn::StoreU(hn::Zero(u64), u64, bins + i);
    }
    const auto upper = static_cast<std::int64_t>(sum_of_numbers(high) - (half << 31));
    const wide_integer sum = (wide_integer{upper} << 32) + sum_of_numbers(low);
    const int unit = static_cast<int>(first) - 1075 - from.scale;
    add_integer(static_cast<std::int64_t>(sum & ((wide_integer{1} << 62) - 1)), unit, *from.owner);
    add_integer(static_cast<std::int64_t>(sum >> 62), unit + 62, *from.owner);
  }
}

/// Drains the bins only if a sum leaves little room.
HWY_NOINLINE void make_room(exponent_bins& bins) {
  auto any = hn::Zero(i64);  // no sum exceeds this by more than 1
  for (std::size_t i = bins.first; i < bins.last; i += doubles) {
    const auto sum = hn::LoadU(i64, bins.sums + i);
    any = hn::Or(any, hn::Xor(sum, hn::BroadcastSignBit(sum)));
  }
  HWY_ALIGN std::int64_t lanes[doubles];
  hn::Store(any, i64, lanes);
  std::int64_t most = 0;
  for (const std::int64_t lane : lanes) most |= lane;
  bins.room = static_cast<std::size_t>((std::numeric_limits<std::int64_t>::max() - most) >> 53);
  if (bins.room < exponent_bins::capacity / 2) drain(bins);
}

/// @pre `value` is finite.
HWY_INLINE void add_to_bin(double value, exponent_bins& bins) {
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  const std::uint64_t field = bits >> 52 & 0x7ff, fraction = bits & (exponent_bins::one - 1);
  const std::uint64_t significand = field == 0 ? fraction : fraction | exponent_bins::one;
  if (significand == 0) return;
  const std::size_t bin =
      std::max<std::size_t>(field, 1);  // subnormal numbers have the next field's unit
  if (HWY_UNLIKELY(bin < bins.first || bin >= bins.last)) bins.cover(bin, bin);
  const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);
  bins.sums[bin] += (static_cast<std::int64_t>(significand) ^ sign) - sign;
}

#if HWY_TARGET != HWY_SCALAR  // vectors of one number

/// A batch of bin indices and significands. (Vector by vector, GCC 12 would extract numbers from
/// registers, slower than loads.)
///
/// Zeros have their own bins, never read. Numbers with a zero exponent are checked again if they
/// may be subnormal, or products that should not be 0.
template <class Terms>
class parted_numbers {
  // Exponents in place, in the upper half.
  static constexpr std::uint32_t exponent_unit = 1u << 20, special = 0x7ff * exponent_unit;
  static constexpr std::uint32_t normal = exponent_unit;
  /// Least exponent from which a product's error is 0 or normal.
  static constexpr std::uint32_t safe_product = (1023 - 916) * exponent_unit;
  /// Converted floats are never subnormal.
  static constexpr bool from_floats = Terms::digits < 53;

  HWY_ALIGN std::uint32_t places_[exponent_bins::batch];
  HWY_ALIGN std::uint64_t significands_[exponent_bins::batch];

  /// Zeros get a significand, too.
  HWY_INLINE void put(number v, std::size_t i) {
    const auto bits = hn::BitCast(u64, v);
    const auto magnitude =
        hn::OrAnd(hn::Set(u64, exponent_bins::one), bits, hn::Set(u64, exponent_bins::one - 1));
    if constexpr (is_avx512) {  // one instruction fewer
      const auto negative = hn::RebindMask(u64, hn::Lt(hn::BitCast(i64, bits), hn::Zero(i64)));
      hn::Store(hn::IfThenElse(negative, hn::Sub(hn::Zero(u64), magnitude), magnitude), u64,
                significands_ + i);
    } else {
      const auto sign = hn::BitCast(u64, hn::BroadcastSignBit(hn::BitCast(i64, bits)));
      hn::Store(hn::Sub(hn::Xor(magnitude, sign), sign), u64, significands_ + i);
    }
  }

  /// Returns the offset subtracted from exponents to find the least: 1 if 0 means zero, which
  /// becomes the largest. (Errors of products are in the upper half.)
  static HWY_INLINE halves zeros_aside() {
    const auto one = hn::Set(u32, from_floats || Terms::paired ? 1u : 0u);
    return Terms::paired ? hn::IfThenZeroElse(hn::FirstN(u32, doubles), one) : one;
  }

  /// Returns the least exponents accepted, except zeros'.
  static HWY_INLINE halves floor() {
    const auto all = hn::Set(u32, normal);
    return Terms::paired ? hn::IfThenElse(hn::FirstN(u32, doubles), hn::Set(u32, safe_product), all)
                         : all;
  }

  static HWY_INLINE halves exponents(number v, number w) {
    const auto uppers = hn::ConcatOdd(u32, hn::BitCast(u32, w), hn::BitCast(u32, v));
    return hn::And(uppers, hn::Set(u32, special));
  }

  /// Returns a step's numbers: products and errors, or two vectors of products.
  static HWY_INLINE factors numbers_of(const Terms terms, std::size_t i) {
    const auto f = terms.at(i);
    const number v = hn::Mul(f.a, f.b);
    if constexpr (Terms::paired) {
      return {v, hn::MulSub(f.a, f.b, v)};
    } else {
      const auto g = terms.at(i + doubles);
      return {v, hn::Mul(g.a, g.b)};
    }
  }

  /// Returns the least exponents of nonzero numbers; of products, those without a factor 0.
  static HWY_INLINE halves min_but_zeros(const Terms terms, std::size_t n) {
    halves least = hn::Set(u32, ~std::uint32_t{0});
    const auto unless_zero = [](number factor, number v) HWY_ATTR {
      return hn::IfThenElse(hn::Eq(factor, hn::Zero(d64)), hn::Inf(d64), v);
    };
    for (std::size_t i = 0; i < n; i += step) {
      auto [v, w] = numbers_of(terms, i);
      if constexpr (Terms::paired) {
        const auto f = terms.at(i);
        v = unless_zero(f.a, unless_zero(f.b, v));
        w = unless_zero(w, w);
      } else {
        v = unless_zero(v, v);
        w = unless_zero(w, w);
      }
      least = hn::Min(least, exponents(v, w));
    }
    return least;
  }

  static HWY_INLINE bool are_covered(halves least, halves largest, halves aside,
                                     const exponent_bins& bins) {
    const auto bound = [](std::size_t bin) HWY_ATTR {
      return hn::Set(u32, static_cast<std::uint32_t>(bin) * exponent_unit);
    };
    const auto first = hn::Sub(hn::Max(floor(), bound(bins.first)), aside);
    // Excludes infinities and NaN.
    const auto last = bound(std::min(bins.last, exponent_bins::count - 1) - 1);
    const auto outside =
        hn::Or(hn::Xor(hn::Min(least, first), first), hn::Xor(hn::Max(largest, last), last));
    return hn::AllTrue(u32, hn::Eq(outside, hn::Zero(u32)));
  }

  /// Makes bins valid for the numbers; false if some are not accepted.
  static HWY_NOINLINE bool cover(halves least, halves largest, exponent_bins& bins) {
    HWY_ALIGN std::uint32_t low[2 * doubles], high[2 * doubles], floors[2 * doubles];
    hn::Store(least, u32, low);
    hn::Store(largest, u32, high);
    hn::Store(floor(), u32, floors);
    for (std::size_t i = 0; i < 2 * doubles; ++i) {
      if (low[i] < floors[i] || high[i] == special) return false;
    }
    const std::uint32_t from = *std::min_element(low, low + 2 * doubles);
    const std::uint32_t to = *std::max_element(high, high + 2 * doubles);
    if (from <= to) bins.cover(from / exponent_unit, to / exponent_unit);  // not all are 0
    return true;
  }

 public:
  static constexpr std::size_t step = Terms::paired ? doubles : 2 * doubles;
  static constexpr std::size_t per_term = Terms::paired ? 2 : 1;

  /// Takes whole steps of terms; returns false for infinities, NaN, subnormal numbers, or products
  /// that may lose digits.
  HWY_INLINE bool take(const Terms terms, std::size_t n, exponent_bins& bins) {
    halves least = hn::Set(u32, ~std::uint32_t{0}), largest = hn::Zero(u32);
    const auto aside = zeros_aside(), zeros = hn::Iota(u32, exponent_bins::count);
    for (std::size_t i = 0; i < n; i += step) {
      const auto [v, w] = numbers_of(terms, i);
      put(v, per_term * i);
      put(w, per_term * i + doubles);
      const auto fields = exponents(v, w);
      const auto bin = hn::ShiftRight<20>(fields);
      hn::Store(hn::IfThenElse(hn::Eq(fields, hn::Zero(u32)), zeros, bin), u32,
                places_ + per_term * i);
      least = hn::Min(least, hn::Sub(fields, aside));
      largest = hn::Max(largest, fields);
    }
    if (HWY_LIKELY(are_covered(least, largest, aside, bins))) return true;
    least = min_but_zeros(terms, n);
    return are_covered(least, largest, hn::Zero(u32), bins) || cover(least, largest, bins);
  }

  HWY_INLINE void add_to(exponent_bins& bins, std::size_t n) const {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < per_term * n; ++i) {
      std::int64_t& sum = bins.sums[places_[i]];  // zeros' may overflow
      sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + significands_[i]);
    }
  }
};

#endif

template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, intermediate_sum& to) {
  exponent_bins& bins = to.bins;
  // Bins cost about 96 terms one by one. Errors of products need FMA.
  if ((n < 96 && bins.owner != &to.sum()) || (Terms::paired && !has_fma)) {
    if (const double special = specials_of(terms, n); special != 0) return to.add_special(special);
    return add_one_by_one(terms, n, to);
  }
  if (bins.owner != &to.sum() || bins.scale != to.scale) drain(bins);
  bins.belong_to(to.sum(), to.scale);
  constexpr std::size_t numbers = Terms::paired ? 2 : 1;
  constexpr std::size_t batch = exponent_bins::batch / numbers;
#if HWY_TARGET != HWY_SCALAR
  parted_numbers<Terms> parted;
#endif
  for (std::size_t i = 0; i < n; i += batch) {
    const std::size_t count = std::min(n - i, batch);
    if (bins.room < numbers * batch) make_room(bins);
    bins.room -= numbers * count;
    const Terms from = terms.from(i);
    std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    if (const std::size_t whole = count / parted.step * parted.step;
        whole > 0 && parted.take(from, whole, bins)) {
      parted.add_to(bins, whole);
      j = whole;
    }
#endif
    for (; j < count; ++j) {
      const double a = from.a(j), b = from.b(j), h = a * b;
      const double magnitude = std::abs(h);
      const bool taken = Terms::paired ? magnitude >= 0x1p-959 || a == 0 || b == 0 : true;
      if (!(magnitude <= std::numeric_limits<double>::max()) || !taken) {
        if (!std::isfinite(a) || !std::isfinite(b)) {
          to.special += h;
          return add_specials(from.from(j + 1), n - i - j - 1, to);
        }
        add_one_by_one(from.from(j), 1, to);
        continue;
      }
      add_to_bin(h, bins);
      if constexpr (Terms::paired) add_to_bin(std::fma(a, b, -h), bins);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
