// Exact bin of a sample, as <tally/operations/histogram.hpp> promises; all backends but kokkos,
// host and device.
//
// A *slot* is a bin index, followed by bins for samples below, above and NaN:
// `bins + slots::outside` counters per channel, and no branch.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operations/histogram.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace tally::backends {

using slot = std::uint32_t;

/// Slots after the bins, in this order.
namespace slots {
inline constexpr slot below = 0, above = 1, nan = 2, outside = 3;
}

/// Samples are compared in this type, exactly.
template <class X>
using sample_t = std::conditional_t<std::is_same_v<X, double> || std::is_same_v<X, std::int64_t>, X,
                                    std::conditional_t<std::is_integral_v<X>, std::int32_t, float>>;

inline slot bins_of(const histogram_arguments& a) {
  return static_cast<slot>(a.counts.size / a.options.channels);
}

// --- Comparisons ---------------------------------------------------------------------------------

inline constexpr double two_to_63 = 0x1p63;

/// Whether x >= edge, as real numbers.
template <class S>
TALLY_HOST_DEVICE bool reaches(S x, double edge) {
  if constexpr (std::is_same_v<S, std::int64_t>) {
    if (edge <= -two_to_63) return true;
    if (!(edge < two_to_63)) return false;
    const auto whole = static_cast<std::int64_t>(edge);  // rounds towards 0
    return x >= whole + (static_cast<double>(whole) < edge);
  } else {
    return static_cast<double>(x) >= edge;
  }
}

/// Whether x > edge, as real numbers.
template <class S>
TALLY_HOST_DEVICE bool exceeds(S x, double edge) {
  if constexpr (std::is_same_v<S, std::int64_t>) {
    if (edge < -two_to_63) return true;
    if (!(edge < two_to_63)) return false;
    const auto whole = static_cast<std::int64_t>(edge);
    return x > whole - (static_cast<double>(whole) > edge);
  } else {
    return static_cast<double>(x) > edge;
  }
}

// --- Keys ----------------------------------------------------------------------------------------

struct key_bins {
  slot bins;
  /// Slot of negative keys; above if keys are unsigned, which are then too large for any number of
  /// bins.
  slot negative = slots::below;

  template <class S>
  TALLY_HOST_DEVICE slot operator()(S key) const {
    const auto place = static_cast<std::make_unsigned_t<S>>(key);
    if (place < bins) return static_cast<slot>(place);
    return bins + (key < 0 ? negative : slots::above);
  }
};

// --- Bins of equal width -------------------------------------------------------------------------

/// Equal bins in doubles: x has the position p = (x - origin) * scale, its bin is about rate * p,
/// and bin i begins at i * step + first.
struct even_steps {
  double lower, upper;
  double origin, scale, rate;
  double first, step;
  /// Origin of quotients; for integers 1/2 lower, in units of p: none is near an edge.
  double origin_of_quotient;
};

inline constexpr double min_normal = 0x1p-1022;

/// Returns x * 2^512, exact unless it overflows. Subnormals are converted as integers, since
/// processors multiply them in microcode.
TALLY_HOST_DEVICE inline double grown(double x) {
  if (!(std::fabs(x) < min_normal)) return x * 0x1p512;
  const auto digits = __builtin_bit_cast(std::int64_t, std::fabs(x));
  const double magnitude = static_cast<double>(digits) * 0x1p-562;
  return x < 0 ? -magnitude : magnitude;
}

/// Edge i is i * width + lower, rounded twice.
struct even_bins {
  slot bins;
  double lower, upper;
  double first, width;
  double half = 1, twice = 1;  ///< 1/2 and 2 if upper - lower overflows
  double inverse;              ///< about 1 / width; infinite if the width is tiny or 0
  bool is_near;                ///< a guess is off by at most 1, as a rule
  /// Whether edges, and so samples, are `grown`. With a subnormal width they are multiples of the
  /// smallest number, so rounding is unchanged.
  bool are_grown = false;

  even_bins(double lower_edge, double upper_edge, slot count)
      : bins(count), lower(lower_edge), upper(upper_edge) {
    if (std::isinf(upper - lower)) half = 0.5, twice = 2;
    first = lower * half;
    width = (upper * half - first) / count;
    if (width < min_normal && std::fmax(std::fabs(lower), std::fabs(upper)) < 0x1p-512) {
      are_grown = true;
      for (double* each : {&lower, &upper, &first, &width}) *each = grown(*each);
    }
    inverse = 1 / width;
    // Error of the quotient: below 2^-18 (four roundings, below 2^31); of an edge: below 2^-53 * 3
    // * 2^48 widths.
    is_near = half == 1 && !are_grown && width >= min_normal && farthest_in_bins() < 0x1p48;
  }

  /// Returns the largest distance of a bin from 0, in widths: at least bins / 2.
  double farthest_in_bins() const { return std::fmax(std::fabs(lower), std::fabs(upper)) / width; }

  static constexpr bool compares_positions = false;
  even_steps steps() const { return {lower, upper, lower, 1, inverse, first, width, lower}; }

  TALLY_HOST_DEVICE double edge(slot i) const {
    if (i == bins) return upper;
    const double e = (static_cast<double>(i) * width + first) * twice;
    return e < upper ? e : upper;  // the width may be a rounded subnormal
  }

  template <class S>
  TALLY_HOST_DEVICE slot operator()(S x) const {
    if constexpr (std::is_floating_point_v<S>) {
      if (x != x) return bins + slots::nan;
    }
    return are_grown ? find(grown(static_cast<double>(x))) : find(x);
  }

 private:
  template <class S>
  TALLY_HOST_DEVICE slot find(S x) const {
    if (!reaches(x, lower)) return bins + slots::below;
    if (exceeds(x, upper)) return bins + slots::above;
    const double guess = (static_cast<double>(x) * half - first) * inverse;
    const slot last = bins - 1;
    const slot g = guess >= static_cast<double>(last) ? last
                   : guess > 0                        ? static_cast<slot>(guess)
                                                      // also for the NaN of 0 * infinity
                                                      : 0;
    return corrected(x, g);
  }

  /// The last bin whose first edge x reaches.
  template <class S>
  TALLY_HOST_DEVICE slot corrected(S x, slot g) const {
    slot begin = 0, end = bins;  // in [begin, end)
    if (reaches(x, edge(g))) {
      if (g + 1 == bins || !reaches(x, edge(g + 1))) return g;
      if (g + 2 == bins || !reaches(x, edge(g + 2))) return g + 1;
      begin = g + 2;
    } else {
      if (reaches(x, edge(g - 1))) return g - 1;
      end = g - 1;
    }
    // Further off only if rounding makes many edges equal.
    while (end - begin > 1) {
      const slot middle = begin + (end - begin) / 2;
      (reaches(x, edge(middle)) ? begin : end) = middle;
    }
    return begin;
  }
};

inline constexpr std::int64_t two_to_52 = std::int64_t{1} << 52;

/// a * b, which is below 2^64.
struct narrow_product {
  std::uint64_t value;

  TALLY_HOST_DEVICE narrow_product(std::uint64_t a, slot b) : value(a * b) {}
  TALLY_HOST_DEVICE bool operator<(const narrow_product& y) const { return value < y.value; }
};

/// a * b, which is high * 2^32 + low. (Not every device has integers of 128 bits.)
struct wide_product {
  std::uint64_t high;
  std::uint32_t low;

  TALLY_HOST_DEVICE wide_product(std::uint64_t a, slot b) {
    const std::uint64_t lower = (a & 0xffffffffu) * b;
    high = (a >> 32) * b + (lower >> 32);
    low = static_cast<std::uint32_t>(lower);
  }
  TALLY_HOST_DEVICE bool operator<(const wide_product& y) const {
    return high != y.high ? high < y.high : low < y.low;
  }
};

/// Integers between integers: edge i is lower + i * range / bins, unrounded.
struct even_integer_bins {
  slot bins;
  std::int64_t lower, upper;
  std::uint64_t range;
  double rate;   ///< about bins / range
  bool narrow;   ///< bins * range < 2^64
  bool is_near;  ///< double is exact for all intermediates but the guess

  even_integer_bins(std::int64_t lower_edge, std::int64_t upper_edge, slot count)
      : bins(count),
        lower(lower_edge),
        upper(upper_edge),
        range(static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower)),
        rate(static_cast<double>(bins) / static_cast<double>(range)),
        narrow(range <= ~std::uint64_t{} / bins),
        is_near(range < (std::uint64_t{1} << 53) / bins && lower > -two_to_52 &&
                upper < two_to_52) {}

  double farthest_in_bins() const {
    const auto number = [](auto integer) { return static_cast<double>(integer); };
    return std::fmax(std::fabs(number(lower)), std::fabs(number(upper))) * rate;
  }
  /// Positions are compared; bin i begins at i * range.
  static constexpr bool compares_positions = true;
  even_steps steps() const {
    const auto number = [](auto integer) { return static_cast<double>(integer); };
    return {number(lower),     number(upper),
            number(lower),     number(bins),
            1 / number(range), 0,
            number(range),     number(lower) - 0.5 / number(bins)};
  }

  TALLY_HOST_DEVICE slot operator()(std::int64_t x) const {
    if (x < lower) return bins + slots::below;
    if (x > upper) return bins + slots::above;
    const std::uint64_t distance =
        static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(lower);
    const double guess = static_cast<double>(distance) * rate;
    const slot last = bins - 1;
    const slot g = guess >= static_cast<double>(last) ? last : static_cast<slot>(guess);
    return narrow ? corrected<narrow_product>(distance, g) : corrected<wide_product>(distance, g);
  }

 private:
  /// The guess is below 2^31 with three roundings, so off by less than 1.
  template <class Product>
  TALLY_HOST_DEVICE slot corrected(std::uint64_t distance, slot g) const {
    const Product position(distance, bins);
    if (position < Product(range, g)) return g - 1;
    return g + 1 < bins && !(position < Product(range, g + 1)) ? g + 1 : g;
  }
};

// --- Bins between given edges --------------------------------------------------------------------

/// The *threshold* of an edge is the smallest number of the sample's type not below it; the last
/// one is the smallest above the last edge. Ascending; unreachable ones are left out.
template <class S>
struct edge_bins {
  const S* thresholds;
  slot reached;  ///< number of thresholds, at most bins + 1
  slot bins;

  template <class S2>
  TALLY_HOST_DEVICE slot operator()(S2 x) const {
    if constexpr (std::is_floating_point_v<S>) {
      if (x != x) return bins + slots::nan;
    }
    slot begin = 0, end = reached;  // of thresholds not above x
    while (begin < end) {
      const slot middle = begin + (end - begin) / 2;
      if (static_cast<S>(x) >= thresholds[middle]) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return bin_of(begin);
  }

  /// The slot if `count` thresholds are not above x.
  TALLY_HOST_DEVICE slot bin_of(slot count) const {
    if (count == 0) return bins + slots::below;
    return count == bins + 1 ? bins + slots::above : count - 1;
  }
};

/// Finds the smallest `S` not below `edge` (or above it). False if there is none.
template <class S, class E>
bool threshold_of(E edge, bool is_above, S* threshold) {
  using limits = std::numeric_limits<S>;
  const auto next = [&](S t) {
    if constexpr (std::is_integral_v<S>) {
      *threshold = t;
      return t < limits::max() && (++*threshold, true);
    } else {
      *threshold = std::nextafter(t, limits::infinity());
      return t < limits::infinity();
    }
  };
  if constexpr (std::is_integral_v<S>) {
    const auto is_at_least = [](S x, E e) {
      if constexpr (std::is_integral_v<E>) {
        return std::int64_t{x} >= e;
      } else {
        return backends::reaches(static_cast<std::int64_t>(x), e);
      }
    };
    if (!is_at_least(limits::max(), edge)) return false;
    if (is_at_least(limits::min(), edge)) {
      *threshold = limits::min();
      return !is_above || !(static_cast<E>(limits::min()) == edge) || next(limits::min());
    }
    S t = static_cast<S>(edge);  // rounds towards 0
    if (!is_at_least(t, edge)) ++t;
    *threshold = t;
    return !is_above || !(static_cast<E>(t) == edge) || next(t);
  } else {
    const auto compare = [&](S t) {  // sign of t - edge
      if constexpr (std::is_integral_v<E>) {
        return -backends::exceeds(std::int64_t{edge}, t) +
               !backends::reaches(std::int64_t{edge}, t);
      } else {
        return (static_cast<double>(t) > edge) - (static_cast<double>(t) < edge);
      }
    };
    auto t = static_cast<S>(edge);
    if (compare(t) < 0) t = std::nextafter(t, limits::infinity());
    if (compare(t) > 0) {  // rounded up
      *threshold = t;
      return true;
    }
    *threshold = t;
    return !is_above || next(t);
  }
}

template <class S>
std::vector<S> thresholds_of(const operand& edges) {
  std::vector<S> all;
  all.reserve(edges.size);
  with_type<real_types>(edges.element, [&]<class X>() {
    using E = std::conditional_t<std::is_integral_v<X>, std::int64_t, double>;
    const auto* const data = static_cast<const detail::stored_t<X>*>(edges.data);
    for (std::size_t i = 0; i < edges.size; ++i) {
      S t;
      const auto edge = rounded<E>(data[static_cast<std::ptrdiff_t>(i) * edges.increment]);
      if (!threshold_of<S, E>(edge, i + 1 == edges.size, &t)) break;
      all.push_back(t);
    }
  });
  return all;
}

template <class F>
void with_bins(const histogram_arguments& a, F&& f) {
  const slot bins = bins_of(a);
  with_type<real_types>(a.x.element, [&]<class X>() {
    using S = sample_t<X>;
    if (a.what == binning::edges) {
      const std::vector<S> all = thresholds_of<S>(a.edges);
      f.template operator()<X>(edge_bins<S>{all.data(), static_cast<slot>(all.size()), bins});
    } else if (a.what == binning::even) {
      if constexpr (std::is_integral_v<X>) {
        if (is_integer(a.lower.element) && is_integer(a.upper.element)) {
          f.template operator()<X>(even_integer_bins(a.lower.integer, a.upper.integer, bins));
          return;
        }
      }
      f.template operator()<X>(even_bins(a.lower.as<double>(), a.upper.as<double>(), bins));
    } else if constexpr (std::is_integral_v<X>) {
      f.template operator()<X>(key_bins{bins, a.unsigned_keys ? slots::above : slots::below});
    }
  });
}

}  // namespace tally::backends
