// Histograms on Kokkos: search between the edges themselves, atomic additions.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/exact/exact_sums.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <limits>

namespace tally::backends::kokkos {
namespace {

// --- Order ---------------------------------------------------------------------------------------

/// -1, 0 or 1 as a < b, a = b or a > b. An integer and a double are compared by whole parts, then
/// by the double's fraction.
template <class T>
KOKKOS_FUNCTION int order(T a, T b) {
  return (a > b) - (a < b);
}
KOKKOS_FUNCTION int order(std::int64_t a, double b) {
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const auto whole = static_cast<std::int64_t>(b);
  return a != whole ? order(a, whole) : order(static_cast<double>(whole), b);
}
KOKKOS_FUNCTION int order(double a, std::int64_t b) { return -order(b, a); }

// --- Edges ---------------------------------------------------------------------------------------

// Each kind except keys compares a sample with edge i.

struct key_edges {
  bool are_unsigned;  ///< keys that read as negative are too large
};

struct even_edges {
  double lower, upper;
  std::int64_t bins;
  static constexpr double largest = std::numeric_limits<double>::max();

  KOKKOS_FUNCTION double edge(std::int64_t i) const {
    if (i == bins) return upper;
    const double range = upper - lower;
    const bool is_wide = range > largest;
    const double width = is_wide ? (upper / 2 - lower / 2) / static_cast<double>(bins)
                                 : range / static_cast<double>(bins);
    const double moved = multiply(static_cast<double>(i), width);
    const double at = is_wide ? 2 * (moved + lower / 2) : moved + lower;
    return at < upper ? at : upper;
  }
  template <class S>
  KOKKOS_FUNCTION int compare(S x, std::int64_t i) const {
    return order(x, edge(i));
  }
};

/// Integer bounds and samples: (x - lower) * bins against i * (upper - lower).
struct whole_edges {
  std::int64_t lower, upper, bins;

  KOKKOS_FUNCTION int compare(std::int64_t x, std::int64_t i) const {
    __extension__ using wide = __int128;
    return order((wide{x} - lower) * bins, (wide{upper} - lower) * i);
  }
};

template <class E>
struct given_edges {
  const E* edges;

  template <class S>
  KOKKOS_FUNCTION int compare(S x, std::int64_t i) const {
    return order(x, edges[i]);
  }
};

// --- Indices -------------------------------------------------------------------------------------

inline constexpr std::int64_t is_below = -3, is_above = -2, is_nan = -1;

/// Samples as compared, exactly: integers as int64, others as double.
template <class S, class Edges>
struct samples {
  numbers x;
  std::int64_t bins, channels;
  Edges edges;

  samples(const histogram_arguments& a, const Edges& e)
      : x(a.x),
        bins(static_cast<std::int64_t>(a.counts.size / a.options.channels)),
        channels(static_cast<std::int64_t>(a.options.channels)),
        edges(e) {}

  KOKKOS_FUNCTION S get(std::int64_t i) const {
    return x.template get<S>(static_cast<std::size_t>(i), 0);
  }
  KOKKOS_FUNCTION std::int64_t channel(std::int64_t i) const { return i % channels; }

  /// Returns the bin of sample i, or why it has none.
  KOKKOS_FUNCTION std::int64_t bin(std::int64_t i) const {
    const S sample = get(i);
    if constexpr (std::is_same_v<Edges, key_edges>) {
      if (sample < 0) return edges.are_unsigned ? is_above : is_below;
      return sample >= bins ? is_above : sample;
    } else {
      return sample == sample ? bin_between_edges(sample) : is_nan;
    }
  }

 private:
  KOKKOS_FUNCTION std::int64_t bin_between_edges(S sample) const {
    if (edges.compare(sample, 0) < 0) return is_below;
    if (edges.compare(sample, bins) > 0) return is_above;
    std::int64_t begin = 0, end = bins;  // edge `begin` is not above; edge `end` is, or is the last
    while (end - begin > 1) {
      const std::int64_t middle = begin + (end - begin) / 2;
      (edges.compare(sample, middle) >= 0 ? begin : end) = middle;
    }
    return begin;
  }
};

// --- Counts --------------------------------------------------------------------------------------

template <class T>
KOKKOS_FUNCTION void add_one(T* to) {
  Kokkos::atomic_add(to, T{1});
}

/// Not unsigned long long, for which Kokkos on CUDA has no instruction: threads that meet would try
/// for milliseconds.
using wide_count = std::uint64_t;

/// Either destination may be null.
template <class C, class Samples>
struct count_samples {
  Samples x;
  C* counts;
  wide_count* outside;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t bin = x.bin(i);
    if (bin >= 0) {
      if (counts != nullptr) add_one(counts + x.channel(i) * x.bins + bin);
    } else if (outside != nullptr) {
      add_one(outside + 3 * x.channel(i) + (bin - is_below));
    }
  }
};

template <class Samples>
struct find_stray {
  Samples x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    if (i < first && x.bin(i) < 0) first = i;
  }
};

template <class Samples>
struct write_key {
  Samples x;
  std::int64_t index;
  std::int64_t* key;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    *key = static_cast<std::int64_t>(x.get(index));
  }
};

// --- Weights -------------------------------------------------------------------------------------

/// Limbs of sums of doubles, which hold floats, too.
using exact = exact_sum<double>;
/// Followed by the number of weights: bins without any are skipped.
inline constexpr int stride = exact::words + 1;

template <class Samples>
struct add_weights {
  Samples x;
  numbers weights;
  std::int64_t begin, end;  // range of sums present
  std::int64_t* words;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t bin = x.bin(i);
    const std::int64_t at = x.channel(i) * x.bins + bin;
    if (bin < 0 || at < begin || at >= end) return;
    std::int64_t* const sum = words + (at - begin) * stride;
    Kokkos::atomic_add(sum + exact::words, std::int64_t{1});
    const auto bits = __builtin_bit_cast(
        std::uint64_t, weights.template get<double>(static_cast<std::size_t>(i), 0));
    const bool is_negative = bits >> 63 != 0;
    const auto field = static_cast<int>(bits >> 52 & 0x7ff);
    const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
    if (field == 0x7ff) {
      return Kokkos::atomic_add(sum + (fraction != 0 ? exact::nan_word
                                       : is_negative ? exact::minus_infinity_word
                                                     : exact::plus_infinity_word),
                                std::int64_t{1});
    }
    const std::int64_t significand = field == 0 ? fraction : fraction + (std::int64_t{1} << 52);
    std::int64_t pieces[3];
    const int limb = exact::split(is_negative ? -significand : significand,
                                  (field == 0 ? 1 : field) - 1075, pieces);
    for (int k = 0; k < 3; ++k) Kokkos::atomic_add(sum + limb + k, pieces[k]);
  }
};

/// Leaves zeros.
template <class C>
struct round_sums {
  std::int64_t* words;
  C* sums;
  bool add;
  bool keeps;  ///< sums whose weights add up to 0

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t* const own = words + k * stride;
    if (own[exact::words] == 0) {
      if (!keeps) sums[k] = add ? canonical(sums[k] + C{0}) : C{0};
      return;
    }
    exact sum = exact::from_words(own);
    if (!keeps || !(sum == exact())) {
      if (add) sum.add(static_cast<double>(sums[k]));
      sums[k] = sum.template round<C>();
    }
    for (int i = 0; i < stride; ++i) own[i] = 0;
  }
};

/// Adds sums of doubles to those of T, and leaves zeros.
template <class T>
struct merge_sums {
  std::int64_t* words;
  std::int64_t* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t* const own = words + k * stride;
    if (own[exact::words] == 0) return;
    std::int64_t all[exact::words];
    exact::from_words(own).to_words(all);
    for (int i = 0; i < stride; ++i) own[i] = 0;
    add_normal_form<T>(all, sums + k * exact_sum<T>::words, add_to_word());
  }
};

template <class C, class Samples>
void sum_weights(const space& on, const histogram_arguments& a, const Samples& x) {
  auto* const sums = static_cast<C*>(a.counts.data);
  const std::size_t at_once = std::min<std::size_t>(a.counts.size, 1 << 15);  // 36 MB
  auto* const words =
      static_cast<std::int64_t*>(scratch(on, at_once * stride * sizeof(std::int64_t)));
  clear(on, words, at_once * stride);
  for (std::size_t first = 0; first < a.counts.size; first += at_once) {
    const std::size_t n = std::min(at_once, a.counts.size - first);
    for_each(on, "tally bins", a.x.size,
             add_weights<Samples>{x, numbers(a.weights), static_cast<std::int64_t>(first),
                                  static_cast<std::int64_t>(first + n), words});
    if (a.words) {
      auto* const to = static_cast<std::int64_t*>(a.counts.data) + first * exact_sum<C>::words;
      for_each(on, "tally bins", n, merge_sums<C>{words, to});
    } else {
      for_each(on, "tally bins", n, round_sums<C>{words, sums + first, a.options.add, a.scatters});
    }
  }
}

// --- All of it -----------------------------------------------------------------------------------

/// Counts the samples; without `counts` only those outside.
template <class C, class Samples>
void count_all(const space& on, const histogram_arguments& a, const Samples& x, C* counts) {
  auto* const outside = reinterpret_cast<wide_count*>(a.options.outside);
  if (!a.options.add) {
    if (counts != nullptr) clear(on, counts, a.counts.size);
    if (outside != nullptr) clear(on, outside, 3 * a.options.channels);
  }
  if (counts == nullptr && outside == nullptr) return;
  for_each(on, "tally bins", a.x.size, count_samples<C, Samples>{x, counts, outside});
}

template <class S, class Edges>
out_of_range_key run(const space& on, const histogram_arguments& a, const Edges& edges) {
  using Samples = samples<S, Edges>;
  const Samples x(a, edges);
  if (a.checks_keys() && a.x.size > 0) {
    const auto n = static_cast<std::int64_t>(a.x.size);
    std::int64_t first = n;
    Kokkos::parallel_reduce("tally stray key", up_to(on, a.x.size), find_stray<Samples>{x},
                            Kokkos::Min<std::int64_t>(first));
    on.fence();
    if (first < n) {
      auto* const key = static_cast<std::int64_t*>(scratch(on, sizeof(std::int64_t)));
      for_each(on, "tally bins", 1, write_key<Samples>{x, first, key});
      out_of_range_key stray{first, 0};
      copy_to_host(on, key, &stray.key, 1);
      on.fence();
      return stray;
    }
  }
  if (!a.weighted) {
    if (a.counts.element == type::int32) {
      count_all(on, a, x, static_cast<std::uint32_t*>(a.counts.data));
    } else {
      count_all(on, a, x, static_cast<wide_count*>(a.counts.data));
    }
  } else {
    with_type<detail::weight_types>(a.counts.element, [&]<class C>() { sum_weights<C>(on, a, x); });
    count_all(on, a, x, static_cast<wide_count*>(nullptr));
  }
  if (on_host) on.fence();
  return {};
}

/// Edges in the execution space's memory, until they have been read.
template <class E, class F>
void with_edges(const space& on, const operand& edges, const F& f) {
  Kokkos::View<E*, memory> there;
  decltype(Kokkos::create_mirror_view(there)) here;  // Kokkos 5 renamed the type
  try {
    there = Kokkos::View<E*, memory>(
        Kokkos::view_alloc(std::string("tally edges"), Kokkos::WithoutInitializing), edges.size);
    here = Kokkos::create_mirror_view(there);
  } catch (const std::exception&) {
    fail_allocation(edges.size * sizeof(E));
  }
  const numbers from(edges);
  for (std::size_t i = 0; i < edges.size; ++i) here(i) = from.get<E>(i, 0);
  Kokkos::deep_copy(on, there, here);
  f(given_edges<E>{there.data()});
  on.fence();
}

}  // namespace

out_of_range_key backend::histogram(const executor& where, const histogram_arguments& a) const {
  return locked([&] {
    const space on = space_of(where);
    const auto bins = static_cast<std::int64_t>(a.counts.size / a.options.channels);
    out_of_range_key stray;
    const auto compared_as = [&]<class S>() {
      if (a.what == binning::edges) {
        const auto by = [&](const auto& edges) { stray = run<S>(on, a, edges); };
        is_integer(a.edges.element) ? with_edges<std::int64_t>(on, a.edges, by)
                                    : with_edges<double>(on, a.edges, by);
        return;
      }
      if constexpr (std::is_integral_v<S>) {
        if (a.what == binning::keys) {
          stray = run<S>(on, a, key_edges{a.unsigned_keys});
          return;
        }
        if (is_integer(a.lower.element) && is_integer(a.upper.element)) {
          stray = run<S>(on, a, whole_edges{a.lower.integer, a.upper.integer, bins});
          return;
        }
      }
      stray = run<S>(on, a, even_edges{a.lower.as<double>(), a.upper.as<double>(), bins});
    };
    if (is_integer(a.x.element)) {
      compared_as.template operator()<std::int64_t>();
    } else {
      compared_as.template operator()<double>();
    }
    return stray;
  });
}

}  // namespace tally::backends::kokkos
