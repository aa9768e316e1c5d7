// Histograms on one thread; vector instructions find the slots of samples.
#include "backends/simd/counting/histogram.hpp"
#include "backends/simd/simd.hpp"

#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#ifndef TALLY_BACKENDS_SIMD_HISTOGRAM_CPP  // once per target
#define TALLY_BACKENDS_SIMD_HISTOGRAM_CPP
namespace tally::backends::simd {
namespace {

/// Bins between given edges, found by a grid: a multiplication gives a cell, which gives the
/// thresholds left to compare with. Rounding is monotonic: thresholds of lower cells are below a
/// sample, those of higher cells above.
template <class S>
class edge_grid {
 public:
  explicit edge_grid(const edge_bins<S>& bins)
      : bins_(bins), thresholds_(bins.thresholds, bins.thresholds + bins.reached) {
    thresholds_.push_back(S{});  // read, without effect
    const S *const first = bins.thresholds, *const end = first + bins.reached;
    const S* low = first;
    const S* high = end;
    if constexpr (std::is_floating_point_v<S>) {
      while (low < end && std::isinf(*low)) ++low;
      while (high > low && std::isinf(high[-1])) --high;
    }
    std::size_t cells = 1;
    if (high - low > 1) {
      // With fewer cells per threshold more samples need several comparisons.
      while (cells < 4 * bins.reached && cells < max_cells) cells *= 2;
      const double range = static_cast<double>(high[-1]) - static_cast<double>(*low);
      if constexpr (std::is_same_v<S, double>) {
        is_halved_ = std::isinf(range);
        is_scaled_ = is_halved_ || range < min_normal * max_cells;
      }
      origin_ = scaled(*low);
      const double rate = static_cast<double>(cells) / (scaled(high[-1]) - origin_);
      if (std::isfinite(rate)) rate_ = rate;
    }
    last_ = static_cast<double>(cells - 1);
    begins_.resize(cells + 1, bins.reached);
    std::size_t cell = 0;
    for (slot i = 0; i < bins.reached; ++i) {
      for (const std::size_t c = cell_of(first[i]); cell <= c; ++cell) begins_[cell] = i;
    }
  }

  slot operator()(S x) const {
    if constexpr (std::is_floating_point_v<S>) {
      if (x != x) return bins_.bins + slots::nan;
    }
    const std::size_t cell = cell_of(x);
    slot begin = begins_[cell], end = begins_[cell + 1];
    if (end - begin > 1) {
      while (end - begin > 4) {
        const slot middle = begin + (end - begin) / 2;
        if (x >= thresholds_[middle]) {
          begin = middle + 1;
        } else {
          end = middle;
        }
      }
      while (begin < end && x >= thresholds_[begin]) ++begin;
    } else {  // a branch would be mispredicted for every second sample
      begin += static_cast<slot>(begin < end) & static_cast<slot>(x >= thresholds_[begin]);
    }
    return bins_.bin_of(begin);
  }

 private:
  static constexpr std::size_t max_cells = 1 << 16;

  /// Returns the position: the number, or a multiple if the edges' range overflows or is subnormal.
  double scaled(S x) const {
    if constexpr (std::is_same_v<S, double>) {
      if (is_scaled_) [[unlikely]]
        return is_halved_ ? x * 0.5 : grown(x);
    }
    return static_cast<double>(x);
  }
  std::size_t cell_of(S x) const {
    const double at = (scaled(x) - origin_) * rate_;
    // Also catches NaN from infinity times a rate of 0.
    const double positive = at > 0 ? at : 0;
    return static_cast<std::size_t>(static_cast<std::int32_t>(positive < last_ ? positive : last_));
  }

  edge_bins<S> bins_;
  std::vector<S> thresholds_;
  double origin_ = 0, rate_ = 0, last_ = 0;
  bool is_scaled_ = false, is_halved_ = false;
  // Thresholds in lower cells, per cell; all at the end.
  std::vector<slot> begins_;
};

/// Kinds of bins, in the order of `searches`.
enum class kind { keys, even, integers, edges };

struct implementation {
  instruction_set set;
  std::array<type_table<slot_search*>, 4> searches;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/counting/histogram.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Whether all n > 0 keys have bins.
HWY_INLINE bool have_bins(const key_bins& bins, const std::int32_t* keys, std::size_t n) {
  std::uint32_t greatest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, static_cast<std::uint32_t>(keys[i]));
  }
  return greatest < bins.bins;
}

template <class X, class Bins>
void search_in_loop(const Bins& bins, const stored<X>* x, std::size_t n, slot* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = bins(static_cast<sample_t<X>>(x[i]));
}

/// Bins of equal width, by vectors of doubles: a guess is off by at most 1.
template <class X, class Bins>
void search_even(const Bins& bins, const stored<X>* x, std::size_t n, slot* to) {
  constexpr tag<double> d;
  constexpr hn::Rebind<std::int32_t, tag<double>> di;
  constexpr std::size_t w = width<double>;
  const auto set = [](double value) HWY_ATTR { return hn::Set(tag<double>(), value); };
  const auto number = [&](slot s) HWY_ATTR { return set(static_cast<double>(s)); };
  const even_steps steps = bins.steps();
  const auto lower = set(steps.lower), upper = set(steps.upper);
  const auto origin = set(steps.origin), scale = set(steps.scale), rate = set(steps.rate);
  const auto first = set(steps.first), step = set(steps.step);
  const auto last = number(bins.bins - 1), one = set(1), zero = hn::Zero(d);
  const auto below = number(bins.bins + slots::below), above = number(bins.bins + slots::above),
             nan = number(bins.bins + slots::nan);
  std::size_t i = 0;
  for (; i + w <= n; i += w) {
    const auto v = load<double>(x + i);
    const auto position = hn::Mul(hn::Sub(v, origin), scale);
    const auto guess = hn::Min(hn::Max(hn::Mul(position, rate), zero), last);
    const auto g = hn::PromoteTo(d, hn::DemoteTo(di, guess));  // towards 0
    const auto value = Bins::compares_positions ? position : v;
    const auto begin = hn::Add(hn::Mul(g, step), first);
    const auto end = hn::Add(hn::Mul(hn::Add(g, one), step), first);
    const auto is_less = hn::Lt(value, begin);
    const auto is_more = hn::And(hn::Ge(value, end), hn::Lt(g, last));
    const auto moved =
        hn::Sub(hn::Add(g, hn::IfThenElseZero(is_more, one)), hn::IfThenElseZero(is_less, one));
    auto slots_of = hn::IfThenElse(hn::Ge(v, lower), moved, below);
    slots_of = hn::IfThenElse(hn::Gt(v, upper), above, slots_of);
    slots_of = hn::IfThenElse(hn::Eq(v, v), slots_of, nan);
    hn::StoreU(hn::BitCast(hn::RebindToUnsigned<decltype(di)>(), hn::DemoteTo(di, slots_of)),
               hn::RebindToUnsigned<decltype(di)>(), to + i);
  }
  search_in_loop<X>(bins, x + i, n - i, to + i);
}

/// Bins of equal width, by a quotient in `R`: correct unless within `margin` of an integer. Vectors
/// with such samples are searched again.
template <class R, class X, class Bins>
void search_by_quotient(const Bins& bins, double margin, const stored<X>* x, std::size_t n,
                        slot* to) {
  constexpr tag<R> d;
  constexpr hn::Rebind<std::int32_t, tag<R>> di;
  constexpr std::size_t w = width<R>;
  const even_steps steps = bins.steps();
  const auto set = [](double value) HWY_ATTR { return hn::Set(tag<R>(), static_cast<R>(value)); };
  const auto origin = set(steps.origin_of_quotient), rate = set(steps.rate * steps.scale);
  const auto min_rest = set(margin), max_rest = set(1 - margin), end = set(bins.bins);
  std::size_t i = 0;
  for (; i + w <= n; i += w) {
    const auto quotient = hn::Mul(hn::Sub(load<R>(x + i), origin), rate);
    const auto bin = [&]() HWY_ATTR {
      if constexpr (sizeof(R) == 4) {
        return hn::ConvertTo(di, quotient);  // towards 0
      } else {
        return hn::DemoteTo(di, quotient);
      }
    }();
    const auto whole = [&]() HWY_ATTR {
      if constexpr (sizeof(R) == 4) {
        return hn::ConvertTo(d, bin);
      } else {
        return hn::PromoteTo(d, bin);
      }
    }();
    const auto rest = hn::Sub(quotient, whole);
    // Beyond int32 a conversion may give any number.
    const auto is_inside = hn::And(hn::Gt(quotient, hn::Zero(d)), hn::Lt(quotient, end));
    const auto is_certain =
        hn::And(hn::And(hn::Ge(rest, min_rest), hn::Le(rest, max_rest)), is_inside);
    if (HWY_LIKELY(hn::AllTrue(d, is_certain))) {
      hn::StoreU(hn::BitCast(hn::RebindToUnsigned<decltype(di)>(), bin),
                 hn::RebindToUnsigned<decltype(di)>(), to + i);
    } else {
      search_even<X>(bins, x + i, w, to + i);
    }
  }
  search_in_loop<X>(bins, x + i, n - i, to + i);
}

template <class X, class Bins>
const slot* search(const void* bins, const void* samples, std::size_t n, slot* to) {
  const Bins& all = *static_cast<const Bins*>(bins);
  const auto* const x = static_cast<const stored<X>*>(samples);
  if constexpr (std::is_same_v<Bins, even_bins> || std::is_same_v<Bins, even_integer_bins>) {
    if constexpr (!std::is_same_v<X, std::int64_t>) {
      if (all.is_near) {
        // Four roundings of the quotient and two of an edge, each of a number below 3 * `size`.
        const double size = all.farthest_in_bins();
        const double margin_of_float = size * 0x1p-20, margin = size * 0x1p-49;
        if constexpr (!std::is_integral_v<X> && sizeof(X) <= 4) {
          if (margin_of_float < 0.125) {
            search_by_quotient<float, X>(all, margin_of_float, x, n, to);
            return to;
          }
        }
        if (margin < 0.125) {
          search_by_quotient<double, X>(all, margin, x, n, to);
        } else {
          search_even<X>(all, x, n, to);
        }
        return to;
      }
    }
  }
  if constexpr (std::is_same_v<Bins, key_bins>) {
    if constexpr (std::is_same_v<X, std::int32_t>) {
      if (have_bins(all, x, n)) return reinterpret_cast<const slot*>(x);
    }
    // Keys are searched as signed first: a loop that handles negative ones otherwise is slower
    // (tuning/histogram.md: keys of 64 bits).
    const key_bins as_signed{all.bins};
    search_in_loop<X>(as_signed, x, n, to);
    if (all.negative != as_signed.negative) {
      const slot below = all.bins + slots::below, there = all.bins + all.negative;
      for (std::size_t i = 0; i < n; ++i) to[i] = to[i] == below ? there : to[i];
    }
  } else {
    search_in_loop<X>(all, x, n, to);
  }
  return to;
}

template <class Bins>
constexpr auto searches_of = table_over<real_types>([]<class X>() -> slot_search* {
  if constexpr (std::is_same_v<Bins, void>) {
    return &search<X, edge_grid<sample_t<X>>>;
  } else if constexpr (std::is_integral_v<X> || std::is_same_v<Bins, even_bins>) {
    return &search<X, Bins>;
  } else {
    return nullptr;
  }
});

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    {searches_of<key_bins>, searches_of<even_bins>, searches_of<even_integer_bins>,
     searches_of<void>},
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

void with_slot_search(instruction_set set, const histogram_arguments& a,
                      const std::function<void(const void* bins, slot_search* search)>& f) {
  const auto search_of = [&](kind k) {
    return implementation_of(set).searches[static_cast<std::size_t>(k)][a.x.element];
  };
  with_bins(a, [&]<class X>(const auto& bins) {
    using Bins = std::remove_cvref_t<decltype(bins)>;
    if constexpr (std::is_same_v<Bins, key_bins>) {
      f(&bins, search_of(kind::keys));
    } else if constexpr (std::is_same_v<Bins, even_bins>) {
      f(&bins, search_of(kind::even));
    } else if constexpr (std::is_same_v<Bins, even_integer_bins>) {
      f(&bins, search_of(kind::integers));
    } else {
      const edge_grid<sample_t<X>> grid(bins);
      f(&grid, search_of(kind::edges));
    }
  });
}

out_of_range_key backend::histogram(const executor& where, const histogram_arguments& a) const {
  out_of_range_key stray;
  with_slot_search(where.instructions(), a, [&](const void* bins, slot_search* search) {
    stray = count_on_threads(where, a, bins, search, 1, nullptr);
  });
  return stray;
}

}  // namespace tally::backends::simd
#endif
