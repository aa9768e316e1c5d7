// Samples are counted here in tables of 32-bit counters, of which each thread has its own.
//
// Promise: the counts are exact, as long as a table counts at most `most_at_once` samples.
#pragma once

#include "backends/host/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>

namespace tally::backends::simd {
namespace counting {

// The figures are from a core of Zen 4. Times are those of one sample, less what it takes to find
// its slot.

/// A thread has at most so many tables against stalls. With 256 bins, keys of 8, 2.9 and 1.1 bits
/// of entropy take 0.28, 0.28 and 0.30 ns in eight tables, 0.28, 0.37 and 0.44 in four, 0.30, 1.0
/// and 1.5 in one.
inline constexpr std::size_t most_copies = 8;
/// Up to so many places (16 KiB in all tables) all tables are always used. Beyond that they are
/// used for blocks of samples in which one in `rare` is equal to the next: for other samples the
/// tables would take the cache from each other. With 1024 bins, geometric keys of which one in 19
/// is equal to the next take 0.55 ns in one table and 0.48 in eight; one in 9, 0.63 and 0.46; but
/// Zipf keys, one in 43, take 0.52 and 0.70. With `rare` = 32 those were sometimes taken for equal
/// ones.
inline constexpr std::size_t places_of_all_copies = 1 << 9, rare = 16;
/// All of a thread's tables have at most so many places together; beyond that there are fewer
/// tables. 2^23 samples of eight keys in 2^18 bins take 0.55 ns in eight tables, 0.61 in four, 0.80
/// in two, 1.2 in one; of one key 0.82, 0.50, 0.47, 0.48. In 2^20 bins, where cache misses and
/// clearing count, eight keys take 3.2, 2.0, 1.5, 1.5, one key 3.1, 1.8, 1.1, 0.8. (In eight tables
/// of 2^16 bins they take 0.48 and 0.47.)
inline constexpr std::size_t places_of_copies = 3 << 18;
/// All threads' tables have so many places, 18 MiB, where fewer tables for each allow it. Beyond
/// about 32 MiB glibc asks the system for new memory at every call. On sixteen threads of a Xeon
/// 2^25 keys of 2^16 bins take 5.9 ms (with twice as many tables 6.4), Zipf keys 3.7 (4.1), eight
/// keys 3.0 (5.6), one key 1.2 (3.4).
inline constexpr std::size_t places_of_all_tables = 9 << 19;
constexpr std::size_t copies_for(std::size_t places, std::size_t threads) {
  const std::size_t most = std::min(places_of_copies, places_of_all_tables / threads);
  std::size_t copies = most_copies;
  while (copies > 1 && copies * places > most) copies /= 2;
  return copies;
}
/// Counters of 32 bits are sure to hold so many samples.
inline constexpr std::size_t most_at_once = std::size_t{1} << 31;

// --- Few places ----------------------------------------------------------------------------------

/// Holds tables of counters of 32 bits, `copies` for each thread. Between two tables there are two
/// cache lines or more, since threads that add to neighbouring lines slow each other down (by half
/// on Zen 4). The distance from a place in one table to the same place in the next is never a
/// multiple of 4 KiB, since a processor takes such addresses for one at first.
struct tables {
  struct alignas(64) line {
    std::uint32_t counters[16];
  };
  std::size_t places, threads, copies, distance;  // `distance` is the one from a table to the next
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
  /// Returns the first of a thread's tables.
  std::uint32_t* of(std::size_t thread) const {
    return reinterpret_cast<std::uint32_t*>(all.get()) + thread * copies * distance;
  }
  /// Returns the sum of a place in all threads' first tables.
  std::uint64_t sum(std::size_t place) const {
    std::uint64_t n = 0;
    for (std::size_t t = 0; t < threads; ++t) n += of(t)[place];
    return n;
  }
};

/// Is the distance of tables that have so few places that all of them are always used.
using distance_of_few =
    std::integral_constant<std::size_t, tables::distance_for(places_of_all_copies)>;

/// So many places are compared at once, whether they are all equal: one key of 256 bins takes 0.18
/// ns, not 0.36.
inline constexpr std::size_t compared_at_once = 64;

/// Says whether so many places are equal. A few of them are compared first, not only two: a branch
/// that is taken as often as not takes 0.1 ns of each sample.
template <class Place>
bool are_equal(const Place* places) {
  constexpr std::size_t few = std::min<std::size_t>(8 * sizeof(Place), 16);
  if (std::memcmp(places, places + compared_at_once / 2, few) != 0) return false;
  Place differ = 0;
  for (std::size_t i = 1; i < compared_at_once; ++i)
    differ |= static_cast<Place>(places[i] ^ places[0]);
  return differ == 0;
}

/// So many samples ahead are asked for while some are counted, where they may be places themselves.
/// On a core of a Xeon (Sapphire Rapids) 2^25 keys of 4096 bins that are looked at before take 11.3
/// ms, without it 14.5: the look would wait for memory while nothing is counted. Of 256 bins,
/// looked at as they are counted, they take 14.2 ms, without it a fifth more.
inline constexpr std::size_t samples_ahead = 4096;
/// Up to so many places, 20 KiB of counters, keys are looked at one by one as they are counted:
/// from memory those of 256 bins take 0.39 ns so, looked at before 0.44, those of 1.1 bits of
/// entropy 0.45 and 0.57, and of 4096 bins 0.41 and 0.44. But of 8192 bins they take 0.45 and 0.44,
/// and of 2^16 0.80 and 0.70: the more instructions, the fewer loads from the second cache are
/// under way.
inline constexpr std::size_t places_looked_at_while_counted = 5 << 10;

/// Says that all are places, and how far ahead others are asked for.
struct all_places {
  std::size_t ahead = 0;
};
/// Says that places are what is below `end`, and likewise.
struct places_below {
  slot end;
  std::size_t ahead = 0;
};

/// Counts up to the first that is not a place, and returns how many. The k-th of eight is counted
/// in table k, as far as there are so many. The additions are written out eight times, so that
/// processors that remember by instruction where a store went (Zen 3 and later) are not misled
/// where two places alternate. The distance is a constant where it can be: there are no registers
/// for the addresses of eight tables. Bytes are read eight at a time: those of 8 and of 1.1 bits of
/// entropy take 0.272 and 0.278 ns so, a cycle for each store, and read one by one 0.272 and 0.416.
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

/// Is a thread's tables while it counts.
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
  /// Counts up to the first that is not a place, and returns how many.
  template <class Place, class Which = all_places>
  std::size_t count(const Place* places, std::size_t n, Which which = {}) {
    if (!always_all_ && (copies_ == 1 || !is_skewed(places, n))) {
      return count_places<1>(places, n, which, first_, distance_);
    }
    if (!used_all_) use_all();
    if (copies_ == most_copies) {
      return always_all_ ? count_places<most_copies>(places, n, which, first_, distance_of_few())
                         : count_places<most_copies>(places, n, which, first_, distance_);
    }
    return copies_ == 2 ? count_places<2>(places, n, which, first_, distance_)
                        : count_places<4>(places, n, which, first_, distance_);
  }
  /// Adds up the tables in the first one.
  void fold() {
    if (!used_all_) return;
    for (std::size_t c = 1; c < copies_; ++c) {
      const std::uint32_t* const from = first_ + c * distance_;
      for (std::size_t k = 0; k < places_; ++k) first_[k] += from[k];
    }
    used_all_ = false;
  }

 private:
  template <class Place>
  static bool is_skewed(const Place* places, std::size_t n) {
    const std::size_t looked_at = std::min<std::size_t>(n, 129) - (n > 0);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < looked_at; ++i) equal += places[i] == places[i + 1];
    return equal * rare > looked_at;
  }
  void use_all() {
    for (std::size_t c = 1; c < copies_; ++c) std::fill_n(first_ + c * distance_, places_, 0);
    used_all_ = true;
  }

  std::uint32_t* first_;
  std::size_t distance_, places_, copies_;
  bool always_all_, used_all_ = false;
};

/// Counts samples [begin, end) in all the threads' tables.
template <class Run>
void count_in_tables(const job& j, std::size_t begin, std::size_t end, const threads<Run>& all,
                     const tables& t) {
  all([&](std::size_t thread) {
    counters own(t, thread);
    const auto count_keys = [&](const slot* keys, std::size_t n) {
      return t.places <= places_looked_at_while_counted
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

/// So many bytes are read at once, and each has a table of its own, because it has a channel of its
/// own.
inline constexpr std::size_t bytes_at_once = 8;

inline bool are_bytes(const job& j) {
  return size_of(j.a.x.element) == 1 && bytes_at_once % j.channels == 0 && j.a.x.increment == 1;
}

/// Counts samples [begin, end) of one byte in `bytes`, and then the places of the 256 bytes in the
/// one table `t`.
template <class Run>
void count_bytes(const job& j, std::size_t begin, std::size_t end, const threads<Run>& all,
                 const tables& bytes, const tables& t) {
  const auto* const x = static_cast<const std::uint8_t*>(j.a.x.data);
  all([&](std::size_t thread) {
    std::uint32_t* const own = bytes.of(thread);
    static_assert(places_of_all_copies >= 256);  // so that this is the tables' distance
    std::fill_n(own, bytes_at_once * distance_of_few(), 0);
    const std::size_t first = begin + share(end - begin, thread, all.count, block);
    const std::size_t last = begin + share(end - begin, thread + 1, all.count, block);
    count_places<bytes_at_once>(x + first, last - first, all_places(), own, distance_of_few());
  });
  std::uint8_t each[256];
  std::iota(each, each + 256, std::uint8_t{0});
  slot found[256];
  j.search(j.bins_of_samples, each, 256, found);  // bytes are not slots here, so they don't return
  std::fill_n(t.of(0), j.places, 0);
  for (std::size_t k = 0; k < bytes_at_once * all.count; ++k) {
    slot places[256];
    std::copy_n(found, 256, places);
    for (slot& s : places) {
      // `begin` and the shares are multiples of so many bytes.
      if (j.channels > 1) j.move_to_channels(k % j.channels, 1, &s);
    }
    const std::uint32_t* const counts_of_byte =
        bytes.of(k / bytes_at_once) + k % bytes_at_once * bytes.distance;
    for (std::size_t b = 0; b < 256; ++b) t.of(0)[places[b]] += counts_of_byte[b];
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
