// Counting in tables of 8-bit counters, of which four times as many fit a cache as of 32-bit ones.
// A counter that wraps is noted.
//
// Promise: exact counts.
#pragma once

#include "backends/common/memory.hpp"
#include "backends/simd/counting/count_in_tables.hpp"
#include "backends/simd/counting/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tally::backends::simd {
namespace counting {

/// Samples for which a counter wraps.
inline constexpr std::size_t samples_per_wrap = 256;

/// Two tables per thread. The second is for every other sample of blocks in which some are equal to
/// the next, since adding to a counter waits for the last store to it.
struct narrow_tables {
  struct part {
    std::uint8_t* table;
    slot* wraps;  ///< places of counters that wrapped, and how often they did
    std::size_t wrapped;
    bool has_second;  ///< the second table is in use
  };
  static constexpr std::size_t room = 128;  // between tables, which threads write to

  std::size_t places, distance;
  table_memory<std::uint8_t> all;
  std::unique_ptr<slot[]> wraps;
  std::vector<part> parts;

  narrow_tables(std::size_t count_of_places, std::size_t threads, std::size_t samples)
      : places(count_of_places),
        distance((places + 2 * room - 1) / room * room),
        all(make_table<std::uint8_t>(2 * threads * distance)) {
    const std::size_t max_wraps = (samples / threads + 2 * block) / samples_per_wrap + 1;
    wraps.reset(new slot[threads * max_wraps]);
    for (std::size_t t = 0; t < threads; ++t) {
      parts.push_back({all.get() + 2 * t * distance, wraps.get() + t * max_wraps, 0, false});
    }
  }

  /// Writes the counts of n places, less those of wraps.
  void sum(std::size_t first, std::size_t n, std::uint32_t* to) const {
    std::fill_n(to, n, 0);
    for (const part& each : parts) {
      for (std::size_t k = 0; k < (each.has_second ? 2 : 1); ++k) {
        const std::uint8_t* const from = each.table + k * distance + first;
        for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
      }
    }
  }
  bool counted_any(std::size_t first, std::size_t n) const {
    std::vector<std::uint32_t> counts(n);
    sum(first, n, counts.data());
    const auto is_in = [&](slot place) { return place >= first && place < first + n; };
    return std::ranges::any_of(counts, [](std::uint32_t count) { return count > 0; }) ||
           std::ranges::any_of(parts, [&](const part& each) {
             return std::any_of(each.wraps, each.wraps + each.wrapped, is_in);
           });
  }
};

/// Counts n places, every other one in the second of two tables; returns the end of the wraps.
template <std::size_t tables>
slot* count_narrow(const slot* places, std::size_t n, std::size_t ahead, std::uint8_t* first,
                   std::size_t distance, slot* wraps) {
  const auto count = [&](std::size_t k, slot place) {
    if (++first[k % tables * distance + place] == 0) *wraps++ = place;
  };
  std::size_t i = 0;
  for (; i + compared_at_once <= n; i += compared_at_once) {
    for (std::size_t k = 0; k < compared_at_once; k += 64 / sizeof(slot)) {
      __builtin_prefetch(places + i + k + ahead);
    }
    if (are_equal(places + i)) {
      std::uint8_t& counter = first[places[i]];
      counter = static_cast<std::uint8_t>(counter + compared_at_once);
      if (counter < compared_at_once) *wraps++ = places[i];
      continue;
    }
    for (std::size_t k = 0; k < compared_at_once; k += 8) {
      for (std::size_t l = 0; l < 8; ++l) count(l, places[i + k + l]);
    }
  }
  for (; i < n; ++i) count(i, places[i]);
  return wraps;
}

inline void count_in_narrow_tables(const job& j, const threads& all, narrow_tables& t) {
  all([&](std::size_t thread) {
    narrow_tables::part own = t.parts[thread];
    slot* wraps = own.wraps;
    std::fill_n(own.table, t.places, std::uint8_t{0});
    const std::size_t n = j.a.x.size;
    j.for_each_block(share(n, thread, all.count, block), share(n, thread + 1, all.count, block),
                     [&](std::size_t first, std::size_t count, const slot* found) {
                       const bool are_samples = found == j.a.x.slice(first, count).data;
                       const std::size_t ahead = are_samples ? samples_ahead : 0;
                       if (!is_skewed(found, count)) {
                         wraps = count_narrow<1>(found, count, ahead, own.table, t.distance, wraps);
                         return;
                       }
                       if (!own.has_second) {
                         std::fill_n(own.table + t.distance, t.places, std::uint8_t{0});
                         own.has_second = true;
                       }
                       wraps = count_narrow<2>(found, count, ahead, own.table, t.distance, wraps);
                     });
    own.wrapped = static_cast<std::size_t>(wraps - own.wraps);
    t.parts[thread] = own;
  });
}

template <class C>
void put_narrow(const job& j, const threads& all, const narrow_tables& t, const result<C>& to) {
  all([&](std::size_t thread) {
    alignas(64) std::uint32_t counts[small_block];
    const std::size_t end = share(t.places, thread + 1, all.count, 16);
    for (std::size_t k = share(t.places, thread, all.count, 16); k < end; k += small_block) {
      const std::size_t n = std::min(small_block, end - k);
      t.sum(k, n, counts);
      to.put_all(k, k + n, [&](std::size_t place) { return counts[place - k]; });
    }
  });
  const result<C> sum(j.a, true);
  for (const narrow_tables::part& each : t.parts) {
    for (std::size_t i = 0; i < each.wrapped; ++i) sum.put(each.wraps[i], samples_per_wrap);
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
