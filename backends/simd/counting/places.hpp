// From samples to indices of counts (places), a block at a time on any number of threads; from
// indices to the caller's counts.
//
// Promise: a sample's index is its slot, or an outside count of its channel.
#pragma once

#include "backends/simd/counting/histogram.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace tally::backends::simd {
namespace counting {

/// Samples per block: few while tables fit the first-level cache, so that counting overlaps the
/// search; else many, since each block waits for all loads (tuning/histogram.md: block).
inline constexpr std::size_t block = 4096, small_block = 1024;
inline constexpr std::size_t places_of_small_block = 1 << 11;

// --- Indices -------------------------------------------------------------------------------------

template <std::size_t size>
void gather(const std::byte* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  for (std::size_t i = 0; i < n; ++i, from += stride, to += size) std::memcpy(to, from, size);
}

inline void gather(const operand& v, std::byte* to) {
  const std::size_t size = size_of(v.element);
  const std::ptrdiff_t stride = v.increment * static_cast<std::ptrdiff_t>(size);
  const auto* const from = static_cast<const std::byte*>(v.data);
  switch (size) {
    case 1:
      return gather<1>(from, stride, v.size, to);
    case 2:
      return gather<2>(from, stride, v.size, to);
    case 4:
      return gather<4>(from, stride, v.size, to);
    default:
      return gather<8>(from, stride, v.size, to);
  }
}

struct job {
  const histogram_arguments& a;
  const void* bins_of_samples;
  slot_search* search;

  std::size_t bins = bins_of(a), channels = a.options.channels;
  std::size_t counts = a.counts.size, places = counts + slots::outside * channels;

  /// Returns the indices of samples from `first` on, at most `block`, in `to` or elsewhere.
  const slot* find(std::size_t first, std::size_t n, slot* to) const {
    const operand samples = a.x.slice(first, n);
    const slot* found = to;
    if (samples.increment == 1) {
      found = search(bins_of_samples, samples.data, n, to);
      if (found != to && channels > 1) found = std::copy_n(found, n, to) - n;
    } else {
      alignas(64) std::byte gathered[small_block * 8];
      for (std::size_t i = 0; i < n; i += small_block) {
        const std::size_t count = std::min(small_block, n - i);
        gather(samples.slice(i, count), gathered);
        const slot* const searched = search(bins_of_samples, gathered, count, to + i);
        if (searched != to + i) std::copy_n(searched, count, to + i);
      }
    }
    if (channels > 1) move_to_channels(first % channels, n, to);
    return found;
  }

  /// Calls f(first, n, places) for each block of samples [begin, end).
  template <class F>
  void for_each_block(std::size_t begin, std::size_t end, const F& f) const {
    for_each_block(begin, end, [](const slot*, std::size_t) { return std::size_t{0}; }, f);
  }
  /// Passes samples that may be indices to use_keys(keys, n), which returns how many it used. Calls
  /// f(first, n, places) for the others.
  template <class G, class F>
  void for_each_block(std::size_t begin, std::size_t end, const G& use_keys, const F& f) const {
    alignas(64) slot found[block];
    const std::size_t step = places <= places_of_small_block ? small_block : block;
    const bool may_be_places = a.what == binning::keys && a.x.element == type::int32 &&
                               a.x.increment == 1 && channels == 1;
    for (std::size_t first = begin; first < end; first += step) {
      const std::size_t n = std::min(step, end - first);
      const auto* const keys = static_cast<const slot*>(a.x.slice(first, n).data);
      const std::size_t used = may_be_places ? use_keys(keys, n) : 0;
      if (used < n) f(first + used, n - used, find(first + used, n - used, found));
    }
  }

  /// Turns slots into indices. The first sample belongs to `channel`.
  void move_to_channels(std::size_t channel, std::size_t n, slot* to) const {
    const auto one = static_cast<slot>(bins), all = static_cast<slot>(channels);
    auto c = static_cast<slot>(channel);
    for (std::size_t i = 0; i < n; ++i) {
      to[i] += to[i] < one ? c * one : (all - 1) * one + c * slots::outside;
      c = c + 1 == all ? 0 : c + 1;
    }
  }

  /// Whether a key out of range is an error.
  bool is_strict() const { return a.checks_keys(); }

  /// Returns the first sample without a bin, else `end`. Not inlined: callers would take this stack
  /// while they count.
  [[gnu::noinline]] std::size_t first_outside(std::size_t begin, std::size_t end) const {
    alignas(64) slot all[block];
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t n = std::min(block, end - first);
      const slot* const found = find(first, n, all);
      if (found != all) continue;  // keys that are slots
      if (*std::max_element(found, found + n) < counts) continue;
      return first +
             static_cast<std::size_t>(
                 std::find_if(found, found + n, [&](slot s) { return s >= counts; }) - found);
    }
    return end;
  }
};

/// Calls f(0) ... f(count - 1) on threads.
struct threads {
  std::size_t count;
  run_on_threads* run;

  template <class F>
  void operator()(const F& f) const {
    if (count == 1) return call(f);
    run(count, std::ref(f));
  }

 private:
  /// Not inlined: callers would take the stack of f while other threads run it.
  template <class F>
  [[gnu::noinline]] static void call(const F& f) {
    f(0);
  }
};

/// Returns the first element of thread t of `count`, a multiple of `step`.
inline std::size_t share(std::size_t n, std::size_t t, std::size_t count, std::size_t step) {
  const std::size_t steps = (n + step - 1) / step;
  return std::min(n, steps / count * step * t + std::min(t, steps % count) * step);
}

// --- Results -------------------------------------------------------------------------------------

/// Destination of counts, modulo 2^32 or 2^64.
template <class C>
struct result {
  C* counts;
  std::uint64_t* outside;
  std::size_t size;
  bool add;

  result(const histogram_arguments& a, bool is_added)
      : counts(static_cast<C*>(a.counts.data)),
        outside(reinterpret_cast<std::uint64_t*>(a.options.outside)),
        size(a.counts.size),
        add(is_added) {}

  void put(std::size_t place, std::uint64_t n) const {
    if (place < size) {
      counts[place] = static_cast<C>(n + (add ? counts[place] : 0));
    } else if (outside != nullptr) {
      outside[place - size] = n + (add ? outside[place - size] : 0);
    }
  }
  /// Puts n(k) for each k in [first, last).
  template <class F>
  void put_all(std::size_t first, std::size_t last, const F& n) const {
    const std::size_t middle = std::clamp(size, first, last);
    C* const to = counts;
    if (add) {
      for (std::size_t k = first; k < middle; ++k) to[k] = static_cast<C>(to[k] + n(k));
    } else {
      for (std::size_t k = first; k < middle; ++k) to[k] = static_cast<C>(n(k));
    }
    for (std::size_t k = middle; k < last; ++k) put(k, n(k));
  }
  void clear(std::size_t places) const {
    std::fill_n(counts, size, C{0});
    if (outside != nullptr) std::fill_n(outside, places - size, std::uint64_t{0});
  }
};

}  // namespace counting
}  // namespace tally::backends::simd
