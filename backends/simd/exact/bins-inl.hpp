// Terms that levels don't hold, in exponent bins.
//
// Promise: exact sums. Bins are drained before they overflow.
#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

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
  for (std::size_t i = 0; i < n; ++i) to.sum().add_product(terms.a(i), terms.b(i));
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

/// Error-free parts of terms in bins. A term is s * 2^(`lowest` + 16 * bin) with |s| < 4: its
/// significand, or the product of two, times 2^(k - 15), k the last four bits of its exponent
/// field. Two parts are s; of a product two are s rounded, and two the error. Each is a multiple of
/// its unit, and `exponent_bins::capacity` of them are below 2^53 units together.
template <bool paired>
struct bin_parts {
  static constexpr std::size_t count = paired ? 4 : 2;
  static constexpr std::size_t rows = exponent_bins::sums_per_bin / count;
  static constexpr int units[] = {-32, -67, -84, -119};  ///< log2
  static constexpr int lowest = 15 - (paired ? 2 : 1) * 1023;
};

/// Empties the bins.
template <bool paired>
HWY_NOINLINE void drain(exponent_bins& from) {
  using parts = bin_parts<paired>;
  constexpr std::size_t size = exponent_bins::sums_per_bin, group = exponent_bins::group;
  from.room = exponent_bins::capacity;
  for (std::size_t first = from.first; first < from.last; first += group) {
    double* const sums = from.sums + first * size;
    auto any = hn::Zero(u64);
    for (std::size_t i = 0; i < group * size; i += doubles) {
      any = hn::Or(any, hn::BitCast(u64, hn::LoadU(d64, sums + i)));
    }
    if (hn::AllTrue(u64, hn::Eq(any, hn::Zero(u64)))) continue;
    const int exponent = static_cast<int>(first) * exponent_bins::binades + parts::lowest;
    for (std::size_t part = 0; part < parts::count; ++part) {
      const int unit = parts::units[part];
      const auto units_per_1 =
          __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 - unit) << 52);
      std::int64_t of_bins[group];
      for (std::size_t bin = 0; bin < group; ++bin) {
        double of_rows = 0;
        for (std::size_t i = part; i < size; i += parts::count) of_rows += sums[bin * size + i];
        of_bins[bin] = static_cast<std::int64_t>(of_rows * units_per_1);
      }
      static_assert(group == 2);
      constexpr int width = exponent_bins::binades;
      constexpr std::uint64_t half_range = std::uint64_t{1} << (62 - width);
      if (static_cast<std::uint64_t>(of_bins[1]) + half_range < 2 * half_range) {
        add_integer(of_bins[0] + of_bins[1] * (1 << width), exponent + unit, *from.owner);
      } else {
        add_integer(of_bins[0], exponent + unit, *from.owner);
        add_integer(of_bins[1], exponent + unit + width, *from.owner);
      }
    }
    std::fill_n(sums, group * size, 0.0);
  }
}

/// A few terms for bins. Exponent fields are stored before they are read one by one.
template <class Terms>
class binned_terms {
  static constexpr bool paired = Terms::paired;
  static constexpr std::uint64_t field_bits = std::uint64_t{0x7ff} << 52;
  static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  static constexpr std::uint32_t not_finite = 0x7ff;

 public:
  static constexpr std::size_t room = 128;

 private:
  using parts = bin_parts<paired>;

  HWY_ALIGN std::uint64_t fields_[room];  // of products sums of two

  /// Least and largest exponent fields in upper halves, of each factor.
  struct extremes {
    halves least[2], largest[2];
  };

  /// Returns n - i terms from the ith on, at most a vector; `whole` if they are one.
  template <bool whole>
  static HWY_INLINE factors at(const Terms& terms, std::size_t i, std::size_t n) {
    const factors f = whole ? terms.at(i) : terms.from(i).first(n - i);
    if constexpr (paired) return f;
    const number v = hn::Mul(f.a, f.b);
    return {v, v};
  }

  /// Returns exponent fields; with `any`, of subnormal numbers 1, and of zeros `of_zero`.
  template <bool any>
  static HWY_INLINE integer field_of(number v, std::uint32_t of_zero) {
    const auto field = hn::And(hn::BitCast(u64, v), hn::Set(u64, field_bits));
    if constexpr (!any) return field;
    const auto zero = hn::Zero(u64);
    const auto set = [](std::uint32_t to)
                         HWY_ATTR { return hn::Set(u64, std::uint64_t{to} << 52); };
    const auto small =
        hn::IfThenElse(hn::Eq(hn::BitCast(u64, hn::Abs(v)), zero), set(of_zero), set(1));
    return hn::IfThenElse(hn::Eq(field, zero), small, field);
  }

  template <bool any, bool whole>
  HWY_INLINE void look(const Terms& terms, std::size_t n, const std::uint32_t (&of_zero)[2],
                       extremes& e) {
    const auto note = [&](int k, integer field) HWY_ATTR {
      e.least[k] = hn::Min(e.least[k], hn::BitCast(u32, field));
      e.largest[k] = hn::Max(e.largest[k], hn::BitCast(u32, field));
    };
    for (auto& least : e.least) least = hn::BitCast(u32, hn::Set(u64, ~std::uint64_t{0}));
    for (auto& largest : e.largest) largest = hn::Zero(u32);
    for (std::size_t i = 0; i < n; i += doubles) {
      if (i % Terms::step_size == 0) terms.prefetch_step(i);
      const factors f = at<whole>(terms, i, n);
      integer field = field_of<any>(f.a, of_zero[0]);
      note(0, field);
      if constexpr (paired) {
        const integer second = field_of<any>(f.b, of_zero[1]);
        note(1, second);
        field = hn::Add(field, second);
      }
      hn::Store(field, u64, fields_ + i);
    }
  }

  /// Whether all terms have valid bins and normal factors.
  static HWY_INLINE bool are_covered(const extremes& e, const exponent_bins& bins) {
    auto outside = hn::Zero(u32);
    for (int k = 0; k < (paired ? 2 : 1); ++k) {
      const auto bound = [](std::uint32_t field) HWY_ATTR {
        return hn::BitCast(u32, hn::Set(u64, std::uint64_t{field} << 52));
      };
      const auto least = bound(bins.least[k]), largest = bound(bins.largest[k]);
      outside = hn::Or(outside, hn::Or(hn::Xor(hn::Min(e.least[k], least), least),
                                       hn::Xor(hn::Max(e.largest[k], largest), largest)));
    }
    return hn::AllTrue(u32, hn::Eq(outside, hn::Zero(u32)));
  }

  template <class Better>
  static std::uint32_t best_of(halves fields, Better better) {
    HWY_ALIGN std::uint64_t lanes[doubles];
    hn::Store(hn::BitCast(u64, fields), u64, lanes);
    return static_cast<std::uint32_t>(*std::min_element(lanes, lanes + doubles, better) >> 52);
  }
  static std::uint32_t min_of(halves fields) { return best_of(fields, std::less<>()); }
  static std::uint32_t max_of(halves fields) { return best_of(fields, std::greater<>()); }

  /// Returns significands with these exponent fields, or less if v is subnormal or 0.
  template <bool any>
  static HWY_INLINE number significand(number v, integer field) {
    const auto bits = hn::BitCast(u64, v);
    const auto normal = hn::BitCast(d64, hn::OrAnd(field, bits, hn::Set(u64, ~field_bits)));
    if constexpr (!any) return normal;
    const auto leading = hn::OrAnd(field, bits, hn::Set(u64, sign_bit));
    const auto small = hn::Eq(hn::And(bits, hn::Set(u64, field_bits)), hn::Zero(u64));
    return hn::IfThenElse(hn::RebindMask(d64, small), hn::Sub(normal, hn::BitCast(d64, leading)),
                          normal);
  }

  /// Returns v rounded to a multiple of a part's unit.
  static HWY_INLINE number rounded_to(int part, number v) {
    const auto bias = hn::BitCast(d64, hn::Set(u64, bias_bits(parts::units[part] + 52)));
    return hn::Sub(hn::Add(v, bias), bias);
  }

  static HWY_INLINE double* row(exponent_bins& bins, const std::uint64_t* fields, std::size_t i) {
    constexpr std::size_t size = exponent_bins::sums_per_bin * sizeof(double);
    const auto offset = static_cast<std::size_t>(fields[i] >> 56) * size;
    auto* const bin = reinterpret_cast<std::byte*>(bins.sums) + offset;  // an instruction fewer
    return reinterpret_cast<double*>(bin) + i % parts::rows * parts::count;
  }

#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE void add_parts(number upper, number lower, exponent_bins& bins, std::size_t i) const {
    double* const to = row(bins, fields_, i);
    to[0] += hn::GetLane(upper);
    to[1] += hn::GetLane(lower);
  }
#else
  template <class D, class V>
  static HWY_INLINE void add(D d, V v, double* to) {
    hn::Store(hn::Add(hn::Load(d, to), v), d, to);
  }

  /// Adds pairs of parts of even and odd terms to the rows of the first and later ones.
  template <class D, class V>
  static HWY_INLINE void add_rows(D d, V even, V odd, exponent_bins& bins,
                                  const std::uint64_t* fields, std::size_t first) {
    if constexpr (hn::MaxLanes(D()) > 2) {
      const hn::Half<D> half;
      add_rows(half, hn::LowerHalf(half, even), hn::LowerHalf(half, odd), bins, fields, first);
      add_rows(half, hn::UpperHalf(half, even), hn::UpperHalf(half, odd), bins, fields,
               first + hn::MaxLanes(half));
    } else {
      add(d, even, row(bins, fields, first));
      add(d, odd, row(bins, fields, first + 1));
    }
  }

  /// The same with a second pair of parts.
  template <class D, class V>
  static HWY_INLINE void add_rows([[maybe_unused]] D d, V even, V odd, V even_errors, V odd_errors,
                                  exponent_bins& bins, const std::uint64_t* fields,
                                  std::size_t first) {
#if HWY_TARGET == HWY_AVX3
    const hn::Half<D> half;
    const auto add_pairs = [&](V pairs, V errors, std::size_t i) HWY_ATTR {
      const auto first_two = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
      const auto last_two = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
      const V rows{_mm512_permutex2var_pd(pairs.raw, first_two, errors.raw)};
      add(half, hn::LowerHalf(half, rows), row(bins, fields, i));
      add(half, hn::UpperHalf(half, rows), row(bins, fields, i + 2));
      const V others{_mm512_permutex2var_pd(pairs.raw, last_two, errors.raw)};
      add(half, hn::LowerHalf(half, others), row(bins, fields, i + 4));
      add(half, hn::UpperHalf(half, others), row(bins, fields, i + 6));
    };
    add_pairs(even, even_errors, first);
    add_pairs(odd, odd_errors, first + 1);
#else
    if constexpr (hn::MaxLanes(D()) == 4) {
      add(d, hn::ConcatLowerLower(d, even_errors, even), row(bins, fields, first));
      add(d, hn::ConcatLowerLower(d, odd_errors, odd), row(bins, fields, first + 1));
      add(d, hn::ConcatUpperUpper(d, even_errors, even), row(bins, fields, first + 2));
      add(d, hn::ConcatUpperUpper(d, odd_errors, odd), row(bins, fields, first + 3));
    } else {
      double* const of_even = row(bins, fields, first);
      double* const of_odd = row(bins, fields, first + 1);
      add(d, even, of_even);
      add(d, even_errors, of_even + 2);
      add(d, odd, of_odd);
      add(d, odd_errors, of_odd + 2);
    }
#endif
  }

  HWY_INLINE void add_parts(number upper, number lower, exponent_bins& bins, std::size_t i) const {
    add_rows(d64, hn::InterleaveLower(d64, upper, lower), hn::InterleaveUpper(d64, upper, lower),
             bins, fields_, i);
  }
  HWY_INLINE void add_parts(number upper, number lower, number upper_error, number lower_error,
                            exponent_bins& bins, std::size_t i) const {
    add_rows(d64, hn::InterleaveLower(d64, upper, lower), hn::InterleaveUpper(d64, upper, lower),
             hn::InterleaveLower(d64, upper_error, lower_error),
             hn::InterleaveUpper(d64, upper_error, lower_error), bins, fields_, i);
  }
#endif

  template <bool any, bool whole>
  HWY_INLINE void add_terms(const Terms& terms, std::size_t n, exponent_bins& bins) const {
    const auto field_of_1 = hn::Set(u64, std::uint64_t{1023} << 52);
    for (std::size_t i = 0; i < n; i += doubles) {
      const factors f = at<whole>(terms, i, n);
      const auto field =
          hn::OrAnd(hn::Set(u64, std::uint64_t{1008} << 52), hn::Load(u64, fields_ + i),
                    hn::Set(u64, std::uint64_t{15} << 52));
      number s = significand<any>(paired ? f.b : f.a, field), error = s;
      if constexpr (paired) {
        const number x = significand<any>(f.a, field_of_1), y = s;
        s = hn::Mul(x, y);
        error = hn::MulSub(x, y, s);
      }
      const number upper = rounded_to(0, s);
      number lower = hn::Sub(s, upper);
      if constexpr (!paired) {
        add_parts(upper, lower, bins, i);
      } else {
        if constexpr (any) {  // a small s has digits below the second part's unit, its error few
          const number rest = rounded_to(1, lower);
          error = hn::Add(error, hn::Sub(lower, rest));
          lower = rest;
        }
        const number upper_error = rounded_to(2, error);
        add_parts(upper, lower, upper_error, hn::Sub(error, upper_error), bins, i);
      }
    }
  }

  /// Makes bins valid and adds terms, if finite; returns whether it did. `e`: as `fields_` is.
  template <bool whole>
  HWY_NOINLINE bool add_uncovered(const Terms& terms, std::size_t n, extremes& e,
                                  exponent_bins& bins) {
    constexpr int count = paired ? 2 : 1;
    std::uint32_t of_zero[2] = {};
    bool any = false;
    for (int k = 0; k < count; ++k) {
      any |= min_of(e.least[k]) == 0;
      of_zero[k] = max_of(e.largest[k]);
      if (of_zero[k] == not_finite) return false;
      if (of_zero[k] == 0) of_zero[k] = 1023;
    }
    if (any) look<true, whole>(terms, n, of_zero, e);
    std::size_t low = 0, high = 0;
    for (int k = 0; k < count; ++k) {
      constexpr std::uint32_t more = 8;  // next terms may have a larger range
      const std::uint32_t least = min_of(e.least[k]), largest = max_of(e.largest[k]);
      bins.least[k] = std::min(bins.least[k], std::max(least, more + 1) - more);
      bins.largest[k] = std::max(bins.largest[k], std::min(largest + more, not_finite - 1));
      low += bins.least[k];
      high += bins.largest[k];
    }
    bins.cover(low, high);
    if (any && whole) bins.unusual = 16;
    any ? add_terms<true, whole>(terms, n, bins) : add_terms<false, whole>(terms, n, bins);
    return true;
  }

  /// Adds terms where zeros or subnormal numbers are likely.
  HWY_NOINLINE bool add_unusual(const Terms& terms, std::size_t n, exponent_bins& bins) {
    --bins.unusual;
    extremes e;
    look<true, true>(terms, n, bins.largest, e);
    if (are_covered(e, bins)) {
      add_terms<true, true>(terms, n, bins);
      return true;
    }
    look<false, true>(terms, n, {}, e);
    return add_uncovered<true>(terms, n, e, bins);
  }

 public:
  /// Adds terms, `room` at most, unless some are not finite; returns whether it did. `whole` if n
  /// is a multiple of `doubles`; else it is less.
  template <bool whole>
  HWY_INLINE bool add_to(exponent_bins& bins, const Terms& terms, std::size_t n) {
    if (HWY_UNLIKELY(whole && bins.unusual > 0)) return add_unusual(terms, n, bins);
    extremes e;
    look<false, whole>(terms, n, {}, e);
    if (HWY_UNLIKELY(!are_covered(e, bins))) return add_uncovered<whole>(terms, n, e, bins);
    add_terms<false, whole>(terms, n, bins);
    return true;
  }
};

template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, intermediate_sum& to) {
  exponent_bins& bins = to.bins;
  // Bins cost about 96 terms one by one. Errors of products need FMA.
  if ((n < 96 && bins.owner != &to.sum()) || (Terms::paired && !has_fma)) {
    if (const double special = specials_of(terms, n); special != 0) return to.add_special(special);
    return add_one_by_one(terms, n, to);
  }
  if constexpr (has_fma || !Terms::paired) {
    if (bins.owner != &to.sum()) drain<Terms::paired>(bins);
    bins.owner = &to.sum();
    binned_terms<Terms> block;
    std::size_t i = 0;
    const auto add = [&](auto whole, std::size_t count) HWY_ATTR {
      if (bins.room < count) drain<Terms::paired>(bins);
      bins.room -= count;
      const bool added = block.template add_to<whole>(bins, terms.from(i), count);
      if (!added) add_specials(terms.from(i), n - i, to);
      i += count;
      return added;
    };
    while (n - i >= doubles) {
      const std::size_t whole = std::min(block.room, (n - i) / doubles * doubles);
      if (!add(std::true_type(), whole)) return;
    }
    if (i < n) add(std::false_type(), n - i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
