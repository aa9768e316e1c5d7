// Terms that levels don't hold are added up here by their exponents, in bins.
//
// Promise: the bins' sums are exact. They are drained before any could leave 64 bits.
#include "backends/simd/exact_levels.hpp"
#include "backends/simd/targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// The guard is every target's own.
#if defined(TALLY_BACKENDS_SIMD_EXACT_BINS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_BINS
#undef TALLY_BACKENDS_SIMD_EXACT_BINS
#else
#define TALLY_BACKENDS_SIMD_EXACT_BINS
#endif

#include "backends/simd/exact_levels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class Terms>
HWY_NOINLINE void add_one_by_one(const Terms terms, std::size_t n, held_sum& to) {
  for (std::size_t i = 0; i < n; ++i) to.sum.add_product(terms.a(i), terms.b(i));
}

/// Empties the bins. 32 bins at a time make one integer, from their upper and lower halves: neither
/// sum passes 64 bits.
template <class Terms>
HWY_NOINLINE void drain(exponent_bins& from) {
  constexpr auto du = Terms::du;
  constexpr std::size_t width = Terms::width, group = exponent_bins::group;
  constexpr std::uint64_t half = 0xffffffff, sign = std::uint64_t{1} << 63;
  from.room = exponent_bins::capacity;
  for (std::size_t first = from.first; first < from.last; first += group) {
    auto* const bins = reinterpret_cast<std::uint64_t*>(from.sums + first);
    auto any = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) any = hn::Or(any, hn::LoadU(du, bins + i));
    if (hn::AllTrue(du, hn::Eq(any, hn::Zero(du)))) continue;
    auto low = hn::Zero(du), high = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) {
      const auto up = hn::Iota(du, i);
      const auto sums = hn::LoadU(du, bins + i);
      low = hn::Add(low, hn::Shl(hn::And(sums, hn::Set(du, half)), up));
      high = hn::Add(high, hn::Shl(hn::ShiftRight<32>(hn::Xor(sums, hn::Set(du, sign))), up));
      hn::StoreU(hn::Zero(du), du, bins + i);
    }
    const auto upper = static_cast<std::int64_t>(sum_of_numbers<Terms>(high) - (half << 31));
    const wide_integer sum = (wide_integer{upper} << 32) + sum_of_numbers<Terms>(low);
    const int unit = static_cast<int>(first) - 1075;
    from.owner->add_scaled(static_cast<std::int64_t>(sum & ((wide_integer{1} << 62) - 1)), unit);
    from.owner->add_scaled(static_cast<std::int64_t>(sum >> 62), unit + 62);
  }
}

/// Makes room in the bins. They are emptied only where a sum is so large that there is little.
template <class Terms>
HWY_NOINLINE void make_room(exponent_bins& bins) {
  constexpr auto di = Terms::di;
  auto any = hn::Zero(di);  // no sum is larger in magnitude by more than 1
  for (std::size_t i = bins.first; i < bins.last; i += Terms::width) {
    const auto sum = hn::LoadU(di, bins.sums + i);
    any = hn::Or(any, hn::Xor(sum, hn::BroadcastSignBit(sum)));
  }
  HWY_ALIGN std::int64_t lanes[Terms::width];
  hn::Store(any, di, lanes);
  std::int64_t most = 0;
  for (const std::int64_t lane : lanes) most |= lane;
  bins.room = static_cast<std::size_t>((std::numeric_limits<std::int64_t>::max() - most) >> 53);
  if (bins.room < exponent_bins::capacity / 2) drain<Terms>(bins);
}

/// Adds a number that is neither infinite nor NaN.
HWY_INLINE void add_to_bin(double value, exponent_bins& bins) {
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  const std::uint64_t field = bits >> 52 & 0x7ff, fraction = bits & (exponent_bins::one - 1);
  const std::uint64_t significand = field == 0 ? fraction : fraction | exponent_bins::one;
  if (significand == 0) return;
  const std::size_t bin = std::max<std::size_t>(field, 1);  // subnormals have the unit of the next
  if (HWY_UNLIKELY(bin < bins.first || bin >= bins.last)) bins.cover(bin, bin);
  const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);
  bins.sums[bin] += (static_cast<std::int64_t>(significand) ^ sign) - sign;
}

#if HWY_TARGET != HWY_SCALAR  // whose vectors are single numbers

/// Holds numbers on their way into bins, by exponent and significand. (Vector by vector, GCC 12
/// would take each number out of its register, which takes twice as long as loads.)
template <class Terms>
class parted_numbers {
  using D = typename Terms::D;
  using D32 = typename Terms::D32;
  using number = hn::Vec<D>;
  using halves = hn::Vec<D32>;
  static constexpr auto du = Terms::du;
  static constexpr auto di = Terms::di;
  static constexpr auto du32 = Terms::du32;
  static constexpr std::size_t width = Terms::width, most = exponent_bins::batch;

  HWY_ALIGN std::uint32_t fields_[most];
  HWY_ALIGN std::int64_t significands_[most];

  HWY_INLINE void put_significands(number v, std::size_t i) {
    const auto bits = hn::BitCast(du, v);
    const auto magnitude =
        hn::Or(hn::And(bits, hn::Set(du, exponent_bins::one - 1)), hn::Set(du, exponent_bins::one));
    const auto sign = hn::BroadcastSignBit(hn::BitCast(di, bits));
    hn::Store(hn::Sub(hn::Xor(hn::BitCast(di, magnitude), sign), sign), di, significands_ + i);
  }

  /// Puts two vectors at i and returns their exponents.
  HWY_INLINE halves put(number v, number w, std::size_t i) {
    const auto uppers = hn::ConcatOdd(du32, hn::BitCast(du32, w), hn::BitCast(du32, v));
    const auto fields = hn::And(hn::ShiftRight<20>(uppers), hn::Set(du32, 0x7ff));
    hn::Store(fields, du32, fields_ + i);
    put_significands(v, i);
    put_significands(w, i + width);
    return fields;
  }

  /// Returns the least exponents that are taken: of products, in the lower half, those whose errors
  /// are sure to be doubles; else those of normal numbers.
  static HWY_INLINE halves floor() {
    const auto normal = hn::Set(du32, 1);
    if constexpr (!Terms::paired) return normal;
    const auto product = hn::Set(du32, 1023 - 959);
    return hn::IfThenElse(hn::FirstN(du32, width), product, normal);
  }

  /// Makes the bins cover the numbers, unless there are others than normal ones.
  static HWY_NOINLINE bool cover(halves least, halves largest, exponent_bins& bins) {
    HWY_ALIGN std::uint32_t low[2 * width], high[2 * width], floors[2 * width];
    hn::Store(least, du32, low);
    hn::Store(largest, du32, high);
    hn::Store(floor(), du32, floors);
    for (std::size_t i = 0; i < 2 * width; ++i) {
      if (low[i] < floors[i] || high[i] == 0x7ff) return false;
    }
    bins.cover(*std::min_element(low, low + 2 * width), *std::max_element(high, high + 2 * width));
    return true;
  }

 public:
  static constexpr std::size_t step = Terms::paired ? width : 2 * width;

  /// Takes n terms, some steps, and says whether all numbers are normal. Then the bins cover them.
  HWY_INLINE bool take(const Terms terms, std::size_t n, exponent_bins& bins) {
    halves least = hn::Set(du32, ~std::uint32_t{0}), largest = hn::Zero(du32);
    for (std::size_t i = 0; i < n; i += step) {
      const auto f = terms.at(i);
      const number h = hn::Mul(f.a, f.b);
      halves fields;
      if constexpr (Terms::paired) {
        fields = put(h, hn::MulSub(f.a, f.b, h), 2 * i);
      } else {
        const auto g = terms.at(i + width);
        fields = put(h, hn::Mul(g.a, g.b), i);
      }
      least = hn::Min(least, fields);
      largest = hn::Max(largest, fields);
    }
    const auto first = hn::Max(floor(), hn::Set(du32, static_cast<std::uint32_t>(bins.first)));
    // (The last bin would be that of infinities and NaN.)
    const auto last = hn::Set(
        du32, static_cast<std::uint32_t>(std::min(bins.last, exponent_bins::count - 1)) - 1);
    const auto outside =
        hn::Or(hn::Xor(hn::Min(least, first), first), hn::Xor(hn::Max(largest, last), last));
    return HWY_LIKELY(hn::AllTrue(du32, hn::Eq(outside, hn::Zero(du32)))) ||
           cover(least, largest, bins);
  }

  /// Adds so many numbers, a multiple of `step`, to the bins.
  HWY_INLINE void add_to(exponent_bins& bins, std::size_t n) const {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < n; ++i) bins.sums[fields_[i]] += significands_[i];
  }
};

/// Adds terms to the bins by vectors, and returns how many: those of whole steps, or none if some
/// numbers are 0, subnormal or special.
template <class Terms>
HWY_INLINE std::size_t add_vectors_to_bins(const Terms terms, std::size_t n,
                                           parted_numbers<Terms>& parted, exponent_bins& bins) {
  const std::size_t whole = n / parted.step * parted.step;
  if (whole == 0 || !parted.take(terms, whole, bins)) return 0;
  parted.add_to(bins, Terms::paired ? 2 * whole : whole);
  return whole;
}

#endif

/// Adds terms to bins by their exponents.
template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, held_sum& to) {
  exponent_bins& bins = to.bins;
  // The bins' own cost is that of about 96 terms one by one. Without FMA nothing gives the
  // products' errors.
  if ((n < 96 && bins.owner != &to.sum) || (Terms::paired && !has_fma)) {
    return add_one_by_one(terms, n, to);
  }
  if (bins.owner != &to.sum) drain<Terms>(bins);
  bins.owner = &to.sum;
  constexpr std::size_t numbers = Terms::paired ? 2 : 1;
  constexpr std::size_t batch = exponent_bins::batch / numbers;
#if HWY_TARGET != HWY_SCALAR
  parted_numbers<Terms> parted;
#endif
  for (std::size_t i = 0; i < n; i += batch) {
    const std::size_t count = std::min(n - i, batch);
    if (bins.room < numbers * batch) make_room<Terms>(bins);
    bins.room -= numbers * count;
    const Terms from = terms.from(i);
    std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    j = add_vectors_to_bins(from, count, parted, bins);
#endif
    for (; j < count; ++j) {
      const double a = from.a(j), b = from.b(j), h = a * b;
      const double magnitude = std::abs(h);
      const bool taken = Terms::paired ? magnitude >= 0x1p-959 || a == 0 || b == 0 : true;
      if (!(magnitude <= std::numeric_limits<double>::max()) || !taken) {
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
