// Counting in tables of 32-bit counters, one or several per thread.
//
// Promise: exact counts, if a table counts at most `max_at_once` samples.
#pragma once

#include "backends/simd/counting/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>

namespace tally::backends::simd {
namespace counting {

/// Maximum tables per thread, against stalls (tuning/histogram.md: max_copies).
inline constexpr std::size_t max_copies = 8;
/// Up to this many counters all tables are used; beyond, only for blocks in which one sample in
/// `rare` equals the next: tables compete for the cache (tuning/histogram.md: places_of_all_copies,
/// rare).
inline constexpr std::size_t places_of_all_copies = 1 << 9, rare = 16;
/// At most this many counters in a thread's tables (tuning/histogram.md: places_of_copies).
inline constexpr std::size_t places_of_copies = 3 << 18;
/// At most this many counters in all threads' tables, if fewer tables allow it: glibc asks the
/// system for larger blocks at every call (tuning/histogram.md: places_of_all_tables).
inline constexpr std::size_t places_of_all_tables = 9 << 19;
constexpr std::size_t copies_for(std::size_t places, std::size_t threads) {
  const std::size_t max_places = std::min(places_of_copies, places_of_all_tables / threads);
  std::size_t copies = max_copies;
  while (copies > 1 && copies * places > max_places) copies /= 2;
  return copies;
}
/// At most this many samples fit a 32-bit counter.
inline constexpr std::size_t max_at_once = std::size_t{1} << 31;

// --- Few counters --------------------------------------------------------------------------------

/// 32-bit counters, `copies` tables per thread. Tables are at least two cache lines apart, since
/// threads that write to neighbouring lines slow each other down. Equal indices in two tables are
/// never a multiple of 4 KiB apart (4K aliasing).
struct tables {
  struct alignas(64) line {
    std::uint32_t counters[16];
  };
  std::size_t places, threads, copies, distance;  // `distance`: from a table to the next
  std::unique_ptr<line[]> all;

  tables(std::size_t count_of_places, std::size_t count, std::size_t of_each)
      : places(count_of_places),
        threads(count),
        copies(of_each),
        distance(distance_for(std::max(places, places_of_all_copies))),
        all(new line[threads * copies * distance / 16]) {}

  static constexpr std::size_t distance_for(std::size_t places) {
    const std::size_t lines = (places + 15) / 16 + 2;
    return 16 * (lines % 64 == 0 ? lines + 1 : lines);
  }
  /// Returns a thread's first table.
  std::uint32_t* of(std::size_t thread) const {
    return reinterpret_cast<std::uint32_t*>(all.get()) + thread * copies * distance;
  }
  /// Returns a counter's sum over all threads' first tables.
  std::uint64_t sum(std::size_t place) const {
    std::uint64_t n = 0;
    for (std::size_t t = 0; t < threads; ++t) n += of(t)[place];
    return n;
  }
};

/// Distance of tables that are all always used.
using distance_of_few =
    std::integral_constant<std::size_t, tables::distance_for(places_of_all_copies)>;

/// Samples compared at once for being equal (tuning/histogram.md: compared_at_once).
inline constexpr std::size_t compared_at_once = 64;

/// Whether `compared_at_once` indices are equal. A few bytes are compared first, more than two
/// indices: a branch taken as often as not is costly (tuning/histogram.md: are_equal).
template <class Place>
bool are_equal(const Place* places) {
  constexpr std::size_t few = std::min<std::size_t>(8 * sizeof(Place), 16);
  if (std::memcmp(places, places + compared_at_once / 2, few) != 0) return false;
  Place differ = 0;
  for (std::size_t i = 1; i < compared_at_once; ++i)
    differ |= static_cast<Place>(places[i] ^ places[0]);
  return differ == 0;
}

/// Prefetch distance, in samples that are indices themselves (tuning/histogram.md: samples_ahead).
inline constexpr std::size_t samples_ahead = 4096;
/// Up to this many counters keys are checked as they are counted (tuning/histogram.md:
/// max_places_checked_while_counted).
inline constexpr std::size_t max_places_checked_while_counted = 5 << 10;

/// All samples are indices. `ahead`: prefetch distance.
struct all_places {
  std::size_t ahead = 0;
};
/// Indices are samples below `end`.
struct places_below {
  slot end;
  std::size_t ahead = 0;
};

/// Counts up to the first sample that is no index, and returns how many. Sample k of eight goes to
/// table k modulo `tables`. The additions are unrolled eight times so that processors that predict
/// store forwarding by instruction (Zen 3 and later) are not misled by two alternating indices. The
/// distance is a constant where possible: eight table addresses don't fit the registers. Bytes are
/// read eight at a time (tuning/histogram.md: count_places).
template <std::size_t tables, class Place, class Which, class Distance>
std::size_t count_places(const Place* places, std::size_t n, Which which, std::uint32_t* first,
                         Distance distance) {
  const auto is_none = [&](Place place) {
    if constexpr (std::is_same_v<Which, all_places>) {
      return false;
    } else {
      return place >= which.end;
    }
  };
  std::uint32_t* table[tables];
  for (std::size_t k = 0; k < tables; ++k) table[k] = first + k * distance;
  const auto count = [&](std::size_t k, Place place, std::uint32_t more) {
    if constexpr (std::is_same_v<Distance, std::size_t>) {
      table[k][place] += more;
    } else {
      first[k * distance + place] += more;
    }
  };
  std::size_t i = 0;
  while (i + compared_at_once <= n) {
    for (std::size_t k = 0; k < compared_at_once; k += 64 / sizeof(Place)) {
      __builtin_prefetch(places + i + k + which.ahead);
    }
    if (are_equal(places + i)) {
      if (is_none(places[i])) return i;
      for (std::size_t k = 0; k < tables; ++k) count(k, places[i], compared_at_once / tables);
      i += compared_at_once;
      continue;
    }
    for (const std::size_t last = i + compared_at_once; i < last; i += 8) {
      std::uint64_t bytes = 0;
      if constexpr (sizeof(Place) == 1) std::memcpy(&bytes, places + i, sizeof bytes);
      for (std::size_t k = 0; k < 8; ++k) {
        const auto place = sizeof(Place) == 1 ? static_cast<Place>(bytes >> 8 * k) : places[i + k];
        if (is_none(place)) return i + k;
        count(k % tables, place, 1);
      }
    }
  }
  for (; i < n; ++i) {
    if (is_none(places[i])) return i;
    count(i % tables, places[i], 1);
  }
  return n;
}

/// Whether one of a block's samples in `rare` equals the next.
template <class Place>
bool is_skewed(const Place* places, std::size_t n) {
  const std::size_t looked_at = std::min<std::size_t>(n, 129) - (n > 0);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < looked_at; ++i) equal += places[i] == places[i + 1];
  return equal * rare > looked_at;
}

/// Tables of one thread while it counts.
class counters {
 public:
  counters(const tables& all, std::size_t thread)
      : first_(all.of(thread)),
        distance_(all.distance),
        places_(all.places),
        copies_(all.copies),
        always_all_(places_ <= places_of_all_copies) {
    clear();
  }

  void clear() {
    std::fill_n(first_, places_, 0);
    if (always_all_) use_all();
  }
  /// See `count_places`.
  template <class Place, class Which = all_places>
  std::size_t count(const Place* places, std::size_t n, Which which = {}) {
    if (!always_all_ && (copies_ == 1 || !is_skewed(places, n))) {
      return count_places<1>(places, n, which, first_, distance_);
    }
    if (!used_all_) use_all();
    if (copies_ == max_copies) {
      return always_all_ ? count_places<max_copies>(places, n, which, first_, distance_of_few())
                         : count_places<max_copies>(places, n, which, first_, distance_);
    }
    return copies_ == 2 ? count_places<2>(places, n, which, first_, distance_)
                        : count_places<4>(places, n, which, first_, distance_);
  }
  /// Adds all tables to the first.
  void fold() {
    if (!used_all_) return;
    for (std::size_t c = 1; c < copies_; ++c) {
      const std::uint32_t* const from = first_ + c * distance_;
      for (std::size_t k = 0; k < places_; ++k) first_[k] += from[k];
    }
    used_all_ = false;
  }

 private:
  void use_all() {
    for (std::size_t c = 1; c < copies_; ++c) std::fill_n(first_ + c * distance_, places_, 0);
    used_all_ = true;
  }

  std::uint32_t* first_;
  std::size_t distance_, places_, copies_;
  bool always_all_, used_all_ = false;
};

inline void count_in_tables(const job& j, std::size_t begin, std::size_t end, const threads& all,
                            const tables& t) {
  all([&](std::size_t thread) {
    counters own(t, thread);
    const auto count_keys = [&](const slot* keys, std::size_t n) {
      return t.places <= max_places_checked_while_counted
                 ? own.count(keys, n, places_below{static_cast<slot>(j.bins), samples_ahead})
                 : 0;
    };
    j.for_each_block(begin + share(end - begin, thread, all.count, block),
                     begin + share(end - begin, thread + 1, all.count, block), count_keys,
                     [&](std::size_t first, std::size_t n, const slot* found) {
                       const bool are_samples = found == j.a.x.slice(first, n).data;
                       own.count(found, n, all_places{are_samples ? samples_ahead : 0});
                     });
    own.fold();
  });
}

// --- Bytes ---------------------------------------------------------------------------------------

/// Bytes read at once. Each has its own table, because it may have its own channel.
inline constexpr std::size_t bytes_at_once = 8;

inline bool are_bytes(const job& j) {
  return size_of(j.a.x.element) == 1 && bytes_at_once % j.channels == 0 && j.a.x.increment == 1;
}

/// Counts one-byte samples [begin, end) in `bytes`, then their 256 counts in the single table `t`.
inline void count_bytes(const job& j, std::size_t begin, std::size_t end, const threads& all,
                        const tables& bytes, const tables& t) {
  const auto* const x = static_cast<const std::uint8_t*>(j.a.x.data);
  all([&](std::size_t thread) {
    std::uint32_t* const own = bytes.of(thread);
    static_assert(places_of_all_copies >= 256);  // so this is the tables' distance
    std::fill_n(own, bytes_at_once * distance_of_few(), 0);
    const std::size_t first = begin + share(end - begin, thread, all.count, block);
    const std::size_t last = begin + share(end - begin, thread + 1, all.count, block);
    count_places<bytes_at_once>(x + first, last - first, all_places(), own, distance_of_few());
  });
  std::uint8_t each[256];
  std::iota(each, each + 256, std::uint8_t{0});
  slot found[256];
  j.search(j.bins_of_samples, each, 256, found);  // bytes are no slots here, so it writes `found`
  std::fill_n(t.of(0), j.places, 0);
  for (std::size_t k = 0; k < bytes_at_once * all.count; ++k) {
    slot places[256];
    std::copy_n(found, 256, places);
    for (slot& s : places) {
      // `begin` and threads' parts are multiples of `bytes_at_once`.
      if (j.channels > 1) j.move_to_channels(k % j.channels, 1, &s);
    }
    const std::uint32_t* const counts_of_byte =
        bytes.of(k / bytes_at_once) + k % bytes_at_once * bytes.distance;
    for (std::size_t b = 0; b < 256; ++b) t.of(0)[places[b]] += counts_of_byte[b];
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
