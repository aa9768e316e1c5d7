// Histograms in plain code, and by NumPy's method.
#include "backends/common/types/tables.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace bench::peers {
namespace {

using tally::binning;

/// The bin of a sample, or -1.
template <class X>
struct bin_of {
  binning what;
  std::int64_t bins;
  double lower, upper, rate;
  const float* edges;

  explicit bin_of(const tally::histogram_arguments& a)
      : what(a.what),
        bins(static_cast<std::int64_t>(a.counts.size)),
        lower(a.lower.as<double>()),
        upper(a.upper.as<double>()),
        rate(static_cast<double>(bins) / (upper - lower)),
        edges(static_cast<const float*>(a.edges.data)) {}

  std::int64_t operator()(X x) const {
    if constexpr (std::is_integral_v<X>) {
      return x;
    } else if (what == binning::even) {  // by the quotient alone, so wrong beside edges
      if (!(x >= lower && x <= upper)) return -1;
      const auto bin = static_cast<std::int64_t>((x - lower) * rate);
      return bin < bins ? bin : bins - 1;
    } else {
      if (!(x >= edges[0] && x <= edges[bins])) return -1;
      return std::upper_bound(edges, edges + bins, x) - edges - 1;
    }
  }
};

template <class X>
[[gnu::noinline]] void count_in_loop(const bin_of<X>& bin, const X* x, std::size_t n,
                                     std::int32_t* counts) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t k = bin(x[i]);
    if (std::is_integral_v<X> || k >= 0) ++counts[k];
  }
}

template <class X>
void count_with_atomics(const bin_of<X>& bin, const X* x, std::size_t n, std::int32_t* counts,
                        int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t k = bin(x[i]);
    if (!std::is_integral_v<X> && k < 0) continue;
#pragma omp atomic
    ++counts[k];
  }
}

/// A table per thread, merged under a lock.
template <class X>
void count_in_tables(const bin_of<X>& bin, const X* x, std::size_t n, std::int32_t* counts,
                     int threads) {
  const auto bins = static_cast<std::size_t>(bin.bins);
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::int32_t> own(bins);
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t k = bin(x[i]);
      if (std::is_integral_v<X> || k >= 0) ++own[static_cast<std::size_t>(k)];
    }
#pragma omp critical
    for (std::size_t k = 0; k < bins; ++k) counts[k] += own[k];
  }
}

/// Keys become int64, their range is checked, int64s are counted.
template <class X>
void numpy_bincount(const X* x, std::size_t n, std::int32_t* counts, std::size_t bins) {
  const std::vector<std::int64_t> keys(x, x + n);
  const auto [min, max] = std::minmax_element(keys.begin(), keys.end());
  if (*min < 0 || static_cast<std::size_t>(*max) >= bins) return;
  std::vector<std::int64_t> wide(bins);
  for (const std::int64_t k : keys) ++wide[static_cast<std::size_t>(k)];
  std::copy(wide.begin(), wide.end(), counts);
}

constexpr std::size_t numpy_block = 65536;

/// A quotient, corrected by the edges beside it.
void numpy_even(const bin_of<float>& bin, const float* x, std::size_t n, std::int32_t* counts) {
  const auto bins = static_cast<std::size_t>(bin.bins);
  const double step = (bin.upper - bin.lower) / static_cast<double>(bins);
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < bins; ++i) edges[i] = static_cast<double>(i) * step + bin.lower;
  edges[bins] = bin.upper;
  std::vector<double> kept, places;
  std::vector<std::int64_t> indices, wide(bins);
  for (std::size_t first = 0; first < n; first += numpy_block) {
    kept.clear();
    for (std::size_t i = first; i < std::min(n, first + numpy_block); ++i) {
      if (x[i] >= bin.lower && x[i] <= bin.upper) kept.push_back(x[i]);
    }
    places.resize(kept.size());
    indices.resize(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) places[i] = (kept[i] - bin.lower) * bin.rate;
    for (std::size_t i = 0; i < kept.size(); ++i) indices[i] = static_cast<std::int64_t>(places[i]);
    for (auto& k : indices) k -= k == bin.bins;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      indices[i] -= kept[i] < edges[static_cast<std::size_t>(indices[i])];
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      indices[i] +=
          kept[i] >= edges[static_cast<std::size_t>(indices[i]) + 1] && indices[i] != bin.bins - 1;
    }
    for (const std::int64_t k : indices) ++wide[static_cast<std::size_t>(k)];
  }
  std::copy(wide.begin(), wide.end(), counts);
}

/// Sorts blocks and searches edges in them.
void numpy_range(const bin_of<float>& bin, const float* x, std::size_t n, std::int32_t* counts) {
  const auto bins = static_cast<std::size_t>(bin.bins);
  std::vector<std::int64_t> below(bins + 1);
  std::vector<float> block;
  for (std::size_t first = 0; first < n; first += numpy_block) {
    block.assign(x + first, x + std::min(n, first + numpy_block));
    std::sort(block.begin(), block.end());
    for (std::size_t i = 0; i <= bins; ++i) {
      below[i] += (i < bins ? std::lower_bound(block.begin(), block.end(), bin.edges[i])
                            : std::upper_bound(block.begin(), block.end(), bin.edges[i])) -
                  block.begin();
    }
  }
  for (std::size_t i = 0; i < bins; ++i) {
    counts[i] = static_cast<std::int32_t>(below[i + 1] - below[i]);
  }
}

template <class X>
contenders of_type(const workload& w) {
  const tally::histogram_arguments a = histogram_of(w);
  const bin_of<X> bin(a);
  const auto* const x = static_cast<const X*>(w.x.data);
  auto* const counts = static_cast<std::int32_t*>(a.counts.data);
  const std::size_t n = w.x.size;
  contenders one, all;
  const auto add = [&](contenders& list, const char* name, const char* label, auto f) {
    contender c = on_host(name, label, w, [=, bins = a.counts.size] {
      std::fill_n(counts, bins, 0);
      f();
      return 0;
    });
    c.compute = [=, run = c.compute](void* result) {
      int ignored;
      run(&ignored);
      const std::int64_t sum = checksum(w.y);
      std::memcpy(result, &sum, sizeof sum);
    };
    list.push_back(std::move(c));
  };
  add(one, "plain loop", "-O3", [=] { count_in_loop(bin, x, n, counts); });
  if constexpr (std::is_integral_v<X>) {
    add(one, "as NumPy", "bincount", [=] { numpy_bincount(x, n, counts, w.y.size); });
  } else if (a.what == binning::even) {
    add(one, "as NumPy", "histogram, a number of bins", [=] { numpy_even(bin, x, n, counts); });
  } else {
    add(one, "as NumPy", "histogram, edges", [=] { numpy_range(bin, x, n, counts); });
  }
  if (w.threads > 1) {
    add(all, "OpenMP atomics", "an atomic a sample",
        [=] { count_with_atomics(bin, x, n, counts, w.threads); });
    add(all, "OpenMP tables", "a table a thread",
        [=] { count_in_tables(bin, x, n, counts, w.threads); });
  }
  one = sequential(std::move(one));
  return one += std::move(all);
}

}  // namespace

contenders histogram(const workload& w) {
  return tally::backends::with_type<tally::type_list<std::int32_t, std::uint8_t, float>>(
      w.x.element, [&]<class X>() { return of_type<X>(w); });
}

}  // namespace bench::peers
