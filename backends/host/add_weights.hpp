// Weights are summed here, bin by bin.
//
// Promise: no addition rounds (src/core/histogram/weights.hpp), so neither the order of the samples
// nor the number of threads makes a difference.
#pragma once

#include "backends/host/places.hpp"
#include "src/core/histogram/weights.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tally::backends::simd {
namespace counting {

/// The words of the sums of weights take at most so many bytes, on all threads. The number is a
/// guess.
inline constexpr std::size_t most_bytes_of_words = std::size_t{1} << 27;

template <class W, class C, class Run>
void add_weights(const job& j, const threads<Run>& all) {
  using sum = weight_sum<W>;
  const std::size_t n = j.a.x.size;
  const std::size_t at_once = std::min(
      j.places, std::max<std::size_t>(1024, most_bytes_of_words / 8 / sum::words / all.count));
  const std::unique_ptr<std::int64_t[]> words(new std::int64_t[at_once * sum::words * all.count]);
  const std::unique_ptr<std::uint64_t[]> outside(
      new std::uint64_t[(j.places - j.counts) * all.count]());
  const auto words_of = [&](std::size_t thread) { return &words[thread * at_once * sum::words]; };
  for (std::size_t first = 0; first < j.counts; first += at_once) {
    const std::size_t places = std::min(at_once, j.counts - first);
    all([&](std::size_t thread) {
      std::int64_t* const own = words_of(thread);
      std::uint64_t* const own_outside = &outside[thread * (j.places - j.counts)];
      std::fill_n(own, places * sum::words, 0);
      j.for_each_block(share(n, thread, all.count, block), share(n, thread + 1, all.count, block),
                       [&](std::size_t at, std::size_t count, const slot* found) {
                         const operand weights = j.a.weights.slice(at, count);
                         const auto* const w = static_cast<const W*>(weights.data);
                         for (std::size_t i = 0; i < count; ++i) {
                           const std::size_t k = found[i] - first;
                           if (k < places) {
                             const auto at_i = static_cast<std::ptrdiff_t>(i) * weights.increment;
                             sum::add(w[at_i], own + k * sum::words);
                           } else if (first == 0 && found[i] >= j.counts) {
                             ++own_outside[found[i] - j.counts];
                           }
                         }
                       });
    });
    all([&](std::size_t thread) {
      const std::size_t last = share(places, thread + 1, all.count, 16);
      for (std::size_t k = share(places, thread, all.count, 16); k < last; ++k) {
        std::int64_t* const total = words_of(0) + k * sum::words;
        for (std::size_t t = 1; t < all.count; ++t) {
          sum::merge(words_of(t) + k * sum::words, total);
        }
        finish_sum<W, C>(j.a, total, first + k);
      }
    });
  }
  const result<std::uint64_t> to(j.a, j.a.options.add);
  for (std::size_t k = j.counts; k < j.places; ++k) {
    std::uint64_t total = 0;
    for (std::size_t t = 0; t < all.count; ++t) {
      total += outside[t * (j.places - j.counts) + k - j.counts];
    }
    to.put(k, total);
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
