// Samples of many counters, sorted by groups of counters so that a group's table fits the cache.
//
// Promise: exact counts, for as many samples as a table may count.
#pragma once

#include "backends/simd/counting/count_in_tables.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tally::backends::simd {
namespace counting {

/// Counters per group, in a 32-bit table (tuning/histogram.md: group_bits).
inline constexpr int group_bits = 16;
inline constexpr std::size_t group = std::size_t{1} << group_bits;
/// Samples sorted at once, and in how many streams (tuning/histogram.md: tile, streams).
inline constexpr std::size_t tile = 1 << 16, streams = 4;

/// The lower index bits of a round's samples, sorted by group, tile by tile.
struct sorted_tiles {
  std::size_t samples, groups, tiles;
  std::unique_ptr<std::uint16_t[]> lower;
  // Begin of each group in each tile, and end of the last.
  std::unique_ptr<std::uint32_t[]> begins;

  sorted_tiles(std::size_t max_samples, std::size_t places)
      : samples(max_samples),
        groups((places + group - 1) / group),
        tiles((max_samples + tile - 1) / tile),
        lower(new std::uint16_t[tiles * tile]),
        begins(new std::uint32_t[tiles * (groups + 1)]) {}

  std::uint32_t* begins_of(std::size_t t) const { return begins.get() + t * (groups + 1); }
};

/// Buffers of a thread.
struct sorter {
  std::unique_ptr<slot[]> places{new slot[tile]};
  std::vector<std::uint32_t> next;  // of each group of each stream: destination of the next sample

  explicit sorter(std::size_t groups) : next(groups * streams) {}

  void sort(const job& j, std::size_t first, std::size_t n, const sorted_tiles& to, std::size_t t) {
    for (std::size_t i = 0; i < n; i += block) {
      const std::size_t count = std::min(block, n - i);
      slot* const own = places.get() + i;
      const slot* const found = j.find(first + i, count, own);
      if (found != own) std::copy_n(found, count, own);
    }
    const std::size_t groups = to.groups, length = n / streams;
    std::fill(next.begin(), next.end(), 0);
    const auto for_each = [&](const auto& f) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t s = 0; s < streams; ++s) f(s, places[s * length + i]);
      }
      for (std::size_t i = streams * length; i < n; ++i) f(0, places[i]);
    };
    for_each([&](std::size_t s, slot place) { ++next[s * groups + (place >> group_bits)]; });
    std::uint32_t* const begins = to.begins_of(t);
    std::uint32_t sum = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      begins[g] = sum;
      for (std::size_t s = 0; s < streams; ++s) {
        sum += std::exchange(next[s * groups + g], sum);
      }
    }
    begins[groups] = sum;
    std::uint16_t* const lower = to.lower.get() + t * tile;
    for_each([&](std::size_t s, slot place) {
      lower[next[s * groups + (place >> group_bits)]++] =
          static_cast<std::uint16_t>(place & (group - 1));
    });
  }
};

inline void count_group(const sorted_tiles& all, std::size_t g, std::size_t first, std::size_t last,
                        counters& own) {
  own.clear();
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t* const begins = all.begins_of(i);
    own.count(all.lower.get() + i * tile + begins[g], begins[g + 1] - begins[g]);
  }
  own.fold();
}

/// Buffers for rounds of at most `max_samples` samples.
struct sorting {
  sorted_tiles sorted;
  std::vector<sorter> sorters;  // per thread
  tables counted;
  std::vector<std::size_t> sizes;  // samples per group

  sorting(std::size_t max_samples, std::size_t places, std::size_t threads)
      : sorted(max_samples, places),
        counted(group, threads, copies_for(group, threads)),
        sizes(sorted.groups) {
    for (std::size_t t = 0; t < threads; ++t) sorters.emplace_back(sorted.groups);
  }
};

template <class C>
void count_sorted(const job& j, std::size_t begin, std::size_t end, const result<C>& to, sorting& s,
                  const threads& all) {
  const sorted_tiles& sorted = s.sorted;
  const std::size_t n = end - begin, tiles = (n + tile - 1) / tile, groups = sorted.groups;
  std::atomic<std::size_t> next_tile = 0;
  all([&](std::size_t thread) {
    for (std::size_t t; (t = next_tile.fetch_add(1, std::memory_order_relaxed)) < tiles;) {
      s.sorters[thread].sort(j, begin + t * tile, std::min(tile, n - t * tile), sorted, t);
    }
  });

  const auto put = [&](std::size_t g, std::size_t first, std::size_t last, const auto& sum) {
    const std::size_t begin_of_group = g * group;
    to.put_all(std::min(begin_of_group + first, j.places),
               std::min(begin_of_group + last, j.places),
               [&](std::size_t k) { return sum(k - begin_of_group); });
  };
  const tables& t = s.counted;
  // A group is counted by one thread, or by all if it has more than one thread's part of the
  // samples.
  std::vector<std::size_t>& sizes = s.sizes;
  std::fill(sizes.begin(), sizes.end(), 0);
  for (std::size_t i = 0; i < tiles; ++i) {
    const std::uint32_t* const begins = sorted.begins_of(i);
    for (std::size_t g = 0; g < groups; ++g) sizes[g] += begins[g + 1] - begins[g];
  }
  const auto is_large = [&](std::size_t g) {
    return all.count > 1 && sizes[g] > std::max(n / (2 * all.count), 2 * group);
  };
  std::atomic<std::size_t> next_group = 0;
  all([&](std::size_t thread) {
    counters own(t, thread);
    const std::uint32_t* const sums = t.of(thread);
    for (std::size_t g; (g = next_group.fetch_add(1, std::memory_order_relaxed)) < groups;) {
      if (is_large(g)) continue;
      count_group(sorted, g, 0, tiles, own);
      put(g, 0, group, [sums](std::size_t k) { return sums[k]; });
    }
  });
  for (std::size_t g = 0; g < groups; ++g) {
    if (!is_large(g)) continue;
    all([&](std::size_t thread) {
      counters own(t, thread);
      count_group(sorted, g, share(tiles, thread, all.count, 1),
                  share(tiles, thread + 1, all.count, 1), own);
    });
    all([&](std::size_t thread) {
      put(g, share(group, thread, all.count, 16), share(group, thread + 1, all.count, 16),
          [&](std::size_t k) { return t.sum(k); });
    });
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
