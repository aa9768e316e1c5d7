// Terms that levels don't hold are added up here by their exponents, in bins.
//
// Promise: the bins' sums are exact. They are drained before any could leave 64 bits.
#include "backends/simd/exact_levels.hpp"
#include "backends/simd/targets.hpp"

#include <algorithm>
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
  constexpr std::size_t width = Terms::width, group = 32;
  constexpr std::uint64_t half = 0xffffffff, sign = std::uint64_t{1} << 63;
  if (from.terms == 0) return;
  from.terms = 0;
  for (std::size_t first = 0; first < exponent_bins::count; first += group) {
    auto* const bins = reinterpret_cast<std::uint64_t*>(from.sums + first);
    auto any = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) any = hn::Or(any, hn::LoadU(du, bins + i));
    if (hn::AllTrue(du, hn::Eq(any, hn::Zero(du)))) continue;
    auto low = hn::Zero(du), high = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) {
      // (Subnormals have the unit of the next bin.)
      auto up = hn::Iota(du, i);
      if (first + i == 0) up = hn::Max(up, hn::Set(du, 1));
      const auto sums = hn::LoadU(du, bins + i);
      low = hn::Add(low, hn::Shl(hn::And(sums, hn::Set(du, half)), up));
      high = hn::Add(high, hn::Shl(hn::ShiftRight<32>(hn::Xor(sums, hn::Set(du, sign))), up));
      hn::StoreU(hn::Zero(du), du, bins + i);
    }
    const std::uint64_t weights = half + (first == 0);
    const auto upper = static_cast<std::int64_t>(sum_of_numbers<Terms>(high) - (weights << 31));
    const wide_integer sum = (wide_integer{upper} << 32) + sum_of_numbers<Terms>(low);
    const int unit = static_cast<int>(first) - 1075 + 53 - Terms::digits;
    from.owner->add_scaled(static_cast<std::int64_t>(sum & ((wide_integer{1} << 62) - 1)), unit);
    from.owner->add_scaled(static_cast<std::int64_t>(sum >> 62), unit + 62);
  }
}

/// Holds numbers on their way into bins, by exponent and significand. (Vector by vector, GCC 12
/// would take each number out of its register, which takes twice as long as loads.)
template <class Terms>
struct parted_numbers {
  static constexpr std::size_t most = 128;
  HWY_ALIGN std::uint64_t fields[most];
  HWY_ALIGN std::int64_t significands[most];
  std::size_t count = 0;

  HWY_INLINE void add(hn::Vec<typename Terms::D> v) {
    constexpr auto du = Terms::du;
    constexpr auto di = Terms::di;
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    const auto bits = hn::BitCast(du, v);
    const auto field = hn::And(hn::ShiftRight<52>(bits), hn::Set(du, 0x7ff));
    const auto first_bit =
        hn::IfThenZeroElse(hn::Eq(field, hn::Zero(du)), hn::Set(du, fraction + 1));
    auto magnitude = hn::Or(hn::And(bits, hn::Set(du, fraction)), first_bit);
    if constexpr (Terms::digits < 53) magnitude = hn::ShiftRight<53 - Terms::digits>(magnitude);
    const auto sign = hn::BroadcastSignBit(hn::BitCast(di, bits));
    hn::Store(field, du, fields + count);
    hn::Store(hn::Sub(hn::Xor(hn::BitCast(di, magnitude), sign), sign), di, significands + count);
    count += Terms::width;
  }

  HWY_INLINE void move_to(exponent_bins& to) {
    for (std::size_t i = 0; i < count; ++i) to.sums[fields[i]] += significands[i];
    count = 0;
  }
};

/// Adds terms to bins by their exponents: it takes 2.2 ns for a product of doubles and 1.0 for one
/// of floats (Zen 4), where a superaccumulator takes 7.
template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, held_sum& to) {
  exponent_bins& bins = to.bins;
  // The bins' own cost is that of about 96 terms one by one. Without FMA nothing gives the
  // products' errors.
  if ((n < 96 && bins.owner != &to.sum) || (Terms::paired && !has_fma)) {
    return add_one_by_one(terms, n, to);
  }
  if (bins.owner == nullptr) std::fill_n(bins.sums, exponent_bins::count, 0);
  if (bins.owner != &to.sum) drain<Terms>(bins);
  bins.owner = &to.sum;
  constexpr auto d = Terms::d;
  constexpr std::size_t numbers = Terms::paired ? 2 : 1;
  constexpr std::size_t most = exponent_bins::capacity(Terms::digits) / numbers;
  constexpr std::size_t batch = parted_numbers<Terms>::most / numbers;
  static_assert(batch % Terms::width == 0);
  parted_numbers<Terms> parted;
  for (std::size_t i = 0; i < n; i += batch) {
    const std::size_t count = std::min(n - i, batch);
    if (bins.terms + count > most) drain<Terms>(bins);
    bins.terms += count;
    for (std::size_t j = 0; j < count; j += Terms::width) {
      const Terms from = terms.from(i + j);
      const std::size_t left = count - j;
      const auto f = left < Terms::width ? from.first(left) : from.at(0);
      const auto h = hn::Mul(f.a, f.b);
      const auto magnitude = hn::Abs(h);
      auto taken = hn::Le(magnitude, hn::Set(d, std::numeric_limits<double>::max()));
      if constexpr (Terms::paired) {  // no error may be below the smallest number
        taken = hn::And(taken, hn::Ge(magnitude, hn::Set(d, 0x1p-959)));
        if (HWY_UNLIKELY(!hn::AllTrue(d, taken))) {
          const auto zero = hn::Zero(d);
          const auto none = hn::Or(hn::Eq(f.a, zero), hn::Eq(f.b, zero));
          taken = hn::Or(taken, hn::And(hn::Eq(h, zero), none));
        }
      }
      if (HWY_UNLIKELY(!hn::AllTrue(d, taken))) {
        add_one_by_one(from, std::min(left, Terms::width), to);
        continue;
      }
      parted.add(h);
      if constexpr (Terms::paired) parted.add(hn::MulSub(f.a, f.b, h));
    }
    parted.move_to(bins);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
