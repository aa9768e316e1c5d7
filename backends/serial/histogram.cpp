// Histograms in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/histogram/bins.hpp"
#include "backends/common/histogram/weights.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

namespace tally::backends::serial {
namespace {

template <class T>
const detail::stored_t<T>& at(const operand& v, std::size_t i) {
  return static_cast<const detail::stored_t<T>*>(
      v.data)[static_cast<std::ptrdiff_t>(i) * v.increment];
}

/// Calls f(i, channel, slot) for each sample.
template <class X, class Bins, class F>
void for_each_slot(const histogram_arguments& a, const Bins& bin_of, const F& f) {
  std::size_t channel = 0;
  for (std::size_t i = 0; i < a.x.size; ++i) {
    f(i, channel, bin_of(static_cast<sample_t<X>>(at<X>(a.x, i))));
    if (++channel == a.options.channels) channel = 0;
  }
}

/// Finds the slots of x; `bins` is a `Bins`.
template <class X, class Bins>
void find_slots(const operand& x, const void* bins, slot* to) {
  const Bins bin_of = *static_cast<const Bins*>(bins);  // a copy, which slots can't alias
  for (std::size_t i = 0; i < x.size; ++i) to[i] = bin_of(static_cast<sample_t<X>>(at<X>(x, i)));
}

/// Samples whose slots are found in blocks: sums of weights are compiled once for all samples and
/// bins.
struct binned_samples {
  const histogram_arguments& a;
  const void* bins;
  void (*find)(const operand& x, const void* bins, slot* to);

  /// Calls f(i, channel, slot) for each sample.
  template <class F>
  void for_each(const F& f) const {
    slot slots[512];
    std::size_t channel = 0;
    for (std::size_t first = 0; first < a.x.size; first += std::size(slots)) {
      const std::size_t n = std::min(std::size(slots), a.x.size - first);
      find(a.x.slice(first, n), bins, slots);
      for (std::size_t i = 0; i < n; ++i) {
        f(first + i, channel, slots[i]);
        if (++channel == a.options.channels) channel = 0;
      }
    }
  }
};

/// Returns a channel's outside counts, indexed by slots beyond the bins.
std::int64_t* outside_of(const histogram_arguments& a, std::size_t channel) {
  return &a.options.outside[channel].below;
}

void clear_outside(const histogram_arguments& a) {
  if (a.options.add || a.options.outside == nullptr) return;
  std::fill_n(a.options.outside, a.options.channels, outside_counts());
}

template <class C, class X, class Bins>
void count(const histogram_arguments& a, const Bins& bin_of) {
  const slot bins = bins_of(a);
  auto* const counts = static_cast<C*>(a.counts.data);
  if (!a.options.add) std::fill_n(counts, a.counts.size, C{0});
  clear_outside(a);
  for_each_slot<X>(a, bin_of, [&](std::size_t, std::size_t channel, slot s) {
    if (s < bins) {
      ++counts[channel * bins + s];
    } else if (a.options.outside != nullptr) {
      ++outside_of(a, channel)[s - bins];
    }
  });
}

/// Returns a bin's value without weights: 0, or the old value.
template <class C>
C without_weights(const histogram_arguments& a, C there) {
  if (!a.options.add) return 0;
  if (a.scatters) return there;
  return canonical(there + C{0});  // as a sum of one term: no -0, canonical NaNs
}

/// Sums weights, as many bins at a time as fit 64 MiB.
template <class W, class C>
void add_weights(const binned_samples& samples) {
  using sum = weight_sum<W>;
  const histogram_arguments& a = samples.a;
  const std::size_t bins = bins_of(a);
  const std::size_t at_once = std::min((std::size_t{1} << 23) / sum::words, a.counts.size);
  // Before anything is written.
  const std::unique_ptr<std::int64_t[]> words(new std::int64_t[at_once * sum::words]);
  std::vector<bool> has_weights(at_once);
  clear_outside(a);
  for (std::size_t first = 0; first < a.counts.size; first += at_once) {
    const std::size_t n = std::min(at_once, a.counts.size - first);
    std::fill(has_weights.begin(), has_weights.end(), false);
    samples.for_each([&](std::size_t i, std::size_t channel, slot s) {
      if (s < bins) {
        const std::size_t k = channel * bins + s - first;
        if (k >= n) return;
        std::int64_t* const own = &words[k * sum::words];
        if (!has_weights[k]) std::fill_n(own, sum::words, 0);
        has_weights[k] = true;
        sum::add(at<W>(a.weights, i), own);
      } else if (first == 0 && a.options.outside != nullptr) {
        ++outside_of(a, channel)[s - bins];
      }
    });
    for (std::size_t k = 0; k < n; ++k) {
      if (has_weights[k]) {
        finish_sum<W, C>(a, &words[k * sum::words], first + k);
      } else if (!a.words) {
        C& to = static_cast<C*>(a.counts.data)[first + k];
        to = without_weights(a, to);
      }
    }
  }
}

void add_weights(const binned_samples& samples) {
  with_type<detail::weight_types>(samples.a.weights.element, [&]<class W>() {
    with_type<detail::weight_types>(samples.a.counts.element,
                                    [&]<class C>() { add_weights<W, C>(samples); });
  });
}

template <class X>
out_of_range_key first_stray(const histogram_arguments& a) {
  const key_bins bin_of{bins_of(a)};
  for (std::size_t i = 0; i < a.x.size; ++i) {
    const auto key = static_cast<sample_t<X>>(at<X>(a.x, i));
    if (bin_of(key) >= bin_of.bins) return {static_cast<std::int64_t>(i), key};
  }
  return {};
}

}  // namespace

out_of_range_key backend::histogram(const executor&, const histogram_arguments& a) const {
  out_of_range_key stray;
  if (a.checks_keys()) {
    with_type<integer_types>(a.x.element, [&]<class X>() { stray = first_stray<X>(a); });
    if (stray.index >= 0) return stray;
  }
  with_bins(a, [&]<class X, class Bins>(const Bins& bin_of) {
    if (!a.weighted) {  // unsigned: modulo 2^32 or 2^64
      return with_type<detail::count_types>(
          a.counts.element, [&]<class C>() { count<std::make_unsigned_t<C>, X>(a, bin_of); });
    }
    add_weights({a, &bin_of, &find_slots<X, Bins>});
  });
  return stray;
}

}  // namespace tally::backends::serial
