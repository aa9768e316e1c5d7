// Counting on the host, on any number of threads: what becomes of samples once the instruction set
// has found their slots, a block at a time.
//
// A place is the index of what a sample adds to: of the counts (or sums), in the order in which the
// caller has them, and behind them three for each channel that count what is outside.
//
//   few samples   straight into the counts
//   few places    a thread has tables of its own, several against stalls: a processor that adds to
//                 a counter it has just stored waits for the store. They are summed last.
//   bytes         are counted as what they are, and only the 256 sums find their places
//   many places   a tile of samples at a time is sorted by the upper bits of their places; then
//                 what all tiles have of one group of places is counted in a small table
//   weights       a thread has the words of all sums, or of as many as fit
#pragma once

#include "src/core/histogram/bins.hpp"
#include "src/core/histogram/weights.hpp"
#include "src/core/table.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace tally::backends::simd {

/// The slots of n samples that lie side by side: written to `to`, or the samples themselves where
/// they are that. `bins` points at what tells them.
using slot_search = const slot*(const void* bins, const void* samples, std::size_t n, slot* to);

namespace counting {

// --- Numbers from measurements -------------------------------------------------------------------

// On Zen 4; times are of one sample, less what it takes to find its slot.

/// Samples whose slots are found at a time: few where the tables are in the first cache, so that
/// the stores of counting go on meanwhile (256 bins: 0.35 ns, not 0.42); else many, since each time
/// all loads are waited for (2^14 bins: 0.6 ns, not 1.0).
inline constexpr std::size_t block = 4096, small_block = 256;
inline constexpr std::size_t places_of_small_block = 1 << 11;
/// Tables of a thread against stalls: of 256 bins, keys of 8, 2.9 and 1.1 bits of entropy take
/// 0.28, 0.28 and 0.30 ns in eight tables, 0.28, 0.37 and 0.44 in four, 0.30, 1.0 and 1.5 in one.
inline constexpr std::size_t most_copies = 8;
/// Up to so many places (16 KiB) all of them are used always; beyond for blocks of samples in which
/// one in `rare` is equal to the next, since of others the tables would take the cache from each
/// other: 1024 bins, geometric keys that are so at 1/19 take 0.55 ns in one table, 0.48 in eight,
/// at 1/9 0.63 and 0.46, but Zipf keys at 1/43, in which `rare` = 32 saw now this and now that,
/// 0.52 and 0.70.
inline constexpr std::size_t places_of_all_copies = 1 << 9, rare = 16;
/// Places of all a thread's tables together, beyond which there are fewer tables. Eight keys of
/// 2^18 bins, 2^23 samples, take 0.55 ns in eight tables, 0.61 in four, 0.80 in two, 1.2 in one;
/// one key 0.82, 0.50, 0.47, 0.48; of 2^20 bins, where cache misses and clearing count, eight
/// keys 3.2, 2.0, 1.5, 1.5, one key 3.1, 1.8, 1.1, 0.8 (eight tables of 2^16 bins: 0.48 and 0.47).
inline constexpr std::size_t places_of_copies = 3 << 18;
constexpr std::size_t copies_for(std::size_t places) {
  std::size_t copies = most_copies;
  while (copies > 1 && copies * places > places_of_copies) copies /= 2;
  return copies;
}
/// Up to so many places a thread has tables, or all threads together; beyond that samples are
/// sorted. In 2^22 bins, from the third cache, one thread takes as long either way (4 ns).
inline constexpr std::size_t places_of_one = 1 << 17, places_of_all = 1 << 22;
/// Samples that are worth a thread, where the threads are awake: 2^14 in 256 bins take 0.30 ns each
/// on two, 0.42 on one; 2^13 take 0.44 and 0.49.
inline constexpr std::size_t least_share = 1 << 13;
/// Places of a group, counted in a table of 32 bits: uniform and Zipf keys of 2^24 bins take 4.0
/// and 4.2 ns on one thread, in groups of 2^15 4.0 and 4.1, of 2^14 4.9 and 4.3, of 2^12 6.2
/// and 5.1.
inline constexpr int group_bits = 16;
inline constexpr std::size_t group = std::size_t{1} << group_bits;
/// Samples that are sorted at a time: the same keys take 4.0 and 4.2 ns in tiles of 2^16, 4.1 and
/// 4.3 of 2^15, 3.8 and 4.1 of 2^17, and 3.3 against 3.5 of 2^22 bins. And in how many streams:
/// those figures are of two, four take 3.9 and 3.8, one 4.0 and 5.4.
inline constexpr std::size_t tile = 1 << 16, streams = 4;
/// Bytes of words that the sums of weights may take, on all threads: a guess.
inline constexpr std::size_t most_bytes_of_words = std::size_t{1} << 27;
/// Samples that counters of 32 bits are sure to hold.
inline constexpr std::size_t most_at_once = std::size_t{1} << 31;

// --- Places --------------------------------------------------------------------------------------

/// Copies n elements of `size` bytes, `stride` bytes apart.
template <std::size_t size>
void gather(const std::byte* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  for (std::size_t i = 0; i < n; ++i, from += stride, to += size) std::memcpy(to, from, size);
}

/// Copies the elements of `v`.
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

  /// The places of samples [first, first + n), at most a block: in `to` or elsewhere.
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
        const slot* const piece = search(bins_of_samples, gathered, count, to + i);
        if (piece != to + i) std::copy_n(piece, count, to + i);
      }
    }
    if (channels > 1) move_to_channels(first % channels, n, to);
    return found;
  }

  /// Calls f(first, n, places) for the blocks of samples [begin, end).
  template <class F>
  void for_each_block(std::size_t begin, std::size_t end, const F& f) const {
    alignas(64) slot found[block];
    const std::size_t step = places <= places_of_small_block ? small_block : block;
    for (std::size_t first = begin; first < end; first += step) {
      const std::size_t n = std::min(step, end - first);
      f(first, n, find(first, n, found));
    }
  }

  /// Slots of samples, of which the first belongs to `channel`, as places.
  void move_to_channels(std::size_t channel, std::size_t n, slot* to) const {
    const auto one = static_cast<slot>(bins), all = static_cast<slot>(channels);
    auto c = static_cast<slot>(channel);
    for (std::size_t i = 0; i < n; ++i) {
      to[i] += to[i] < one ? c * one : (all - 1) * one + c * slots::outside;
      c = c + 1 == all ? 0 : c + 1;
    }
  }

  /// Whether keys outside are an error.
  bool is_strict() const { return a.what == binning::keys && a.options.outside == nullptr; }

  /// The first sample of [begin, end) that has no bin; `end`: all have one.
  std::size_t first_outside(std::size_t begin, std::size_t end) const {
    alignas(64) slot all[block];
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t n = std::min(block, end - first);
      const slot* const found = find(first, n, all);
      if (*std::max_element(found, found + n) < counts) continue;
      return first +
             static_cast<std::size_t>(
                 std::find_if(found, found + n, [&](slot s) { return s >= counts; }) - found);
    }
    return end;
  }
};

/// So many threads, as `run(f)` that calls f(0) ... f(count - 1) side by side.
template <class Run>
struct threads {
  std::size_t count;
  const Run& run;

  template <class F>
  void operator()(const F& f) const {
    run(count, f);
  }
};

/// The first of n elements that thread t of `count` takes; multiples of `step`.
inline std::size_t share(std::size_t n, std::size_t t, std::size_t count, std::size_t step) {
  const std::size_t steps = (n + step - 1) / step;
  return std::min(n, steps / count * step * t + std::min(t, steps % count) * step);
}

// --- Results -------------------------------------------------------------------------------------

/// Where counts go. Unsigned, so modulo 2^32 and 2^64.
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
  /// n(k) of each place k in [first, last).
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

// --- Few samples ---------------------------------------------------------------------------------

template <class C>
void count_directly(const job& j, const result<C>& to) {
  if (!to.add) to.clear(j.places);
  const result<C> sum = {j.a, true};
  j.for_each_block(0, j.a.x.size, [&](std::size_t, std::size_t n, const slot* found) {
    for (std::size_t i = 0; i < n; ++i) sum.put(found[i], 1);
  });
}

// --- Few places ----------------------------------------------------------------------------------

/// Tables of counters of 32 bits, `copies` for each thread. Between two there are two cache lines
/// or more, since threads that add to neighbouring lines slow each other down (Zen 4: by half), and
/// never a multiple of 4 KiB from one place to the same one, which a processor takes for one
/// address at first.
struct tables {
  struct alignas(64) line {
    std::uint32_t counters[16];
  };
  std::size_t places, threads, copies, distance;  // from one table to the next
  std::unique_ptr<line[]> all;

  tables(std::size_t count_of_places, std::size_t count, std::size_t of_each)
      : places(count_of_places),
        threads(count),
        copies(of_each),
        distance(distance_for(places)),
        all(new line[threads * copies * distance / 16]) {}

  static std::size_t distance_for(std::size_t places) {
    const std::size_t lines = (places + 15) / 16 + 2;
    return 16 * (lines % 64 == 0 ? lines + 1 : lines);
  }
  /// The first of a thread's.
  std::uint32_t* of(std::size_t thread) const {
    return reinterpret_cast<std::uint32_t*>(all.get()) + thread * copies * distance;
  }
  /// Of all threads' first tables.
  std::uint64_t sum(std::size_t place) const {
    std::uint64_t n = 0;
    for (std::size_t t = 0; t < threads; ++t) n += of(t)[place];
    return n;
  }
};

/// Places that are looked at together, whether they are all one: one key of 256 bins takes 0.18 ns,
/// not 0.36.
inline constexpr std::size_t run = 64;

template <class Place>
bool are_equal(const Place* places) {
  Place differ = 0;
  for (std::size_t i = run / 8; i < run; i += run / 8) differ |= places[i] ^ places[0];
  if (differ != 0) return false;
  for (std::size_t i = 1; i < run; ++i) differ |= static_cast<Place>(places[i] ^ places[0]);
  return differ == 0;
}

/// Written out eight times, so that processors which remember by instruction where a store went
/// (Zen 3 on) are not misled by two places in turn.
template <std::size_t tables, class Place>
void count_places(const Place* places, std::size_t n, std::uint32_t* first, std::size_t distance) {
  const auto count_eight = [&](std::size_t i) {
    for (std::size_t k = 0; k < 8; ++k) ++first[k % tables * distance + places[i + k]];
  };
  std::size_t i = 0;
  for (; i + run <= n; i += run) {
    if (are_equal(places + i)) {
      first[places[i]] += run;
    } else {
      for (std::size_t j = i; j < i + run; j += 8) count_eight(j);
    }
  }
  for (; i + 8 <= n; i += 8) count_eight(i);
  for (; i < n; ++i) ++first[places[i]];
}

/// A thread's tables while it counts.
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
  template <class Place>
  void count(const Place* places, std::size_t n) {
    if (!always_all_ && (copies_ == 1 || !is_skewed(places, n))) {
      return count_places<1>(places, n, first_, 0);
    }
    if (!used_all_) use_all();
    switch (copies_) {
      case 2:
        return count_places<2>(places, n, first_, distance_);
      case 4:
        return count_places<4>(places, n, first_, distance_);
      default:
        return count_places<most_copies>(places, n, first_, distance_);
    }
  }
  /// Leaves the sums in the first table.
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
    j.for_each_block(begin + share(end - begin, thread, all.count, block),
                     begin + share(end - begin, thread + 1, all.count, block),
                     [&](std::size_t, std::size_t n, const slot* found) { own.count(found, n); });
    own.fold();
  });
}

// --- Bytes ---------------------------------------------------------------------------------------

/// A table for each place in a word of 8 bytes, which has a channel of its own.
inline constexpr std::size_t word = 8;

inline bool are_bytes(const job& j) {
  return size_of(j.a.x.element) == 1 && word % j.channels == 0 && j.a.x.increment == 1;
}

/// Counts of places, to the one table `t`, from those of the 256 bytes.
template <class Run>
void count_bytes(const job& j, std::size_t begin, std::size_t end, const threads<Run>& all,
                 const tables& bytes, const tables& t) {
  const auto* const x = static_cast<const std::uint8_t*>(j.a.x.data);
  all([&](std::size_t thread) {
    std::uint32_t* const own = bytes.of(thread);
    const std::size_t distance = bytes.distance;
    std::fill_n(own, word * distance, 0);
    std::size_t i = begin + share(end - begin, thread, all.count, block);
    const std::size_t last = begin + share(end - begin, thread + 1, all.count, block);
    for (; i + word <= last; i += word) {
      std::uint64_t eight;
      std::memcpy(&eight, x + i, word);
      for (std::size_t k = 0; k < word; ++k) ++own[k * distance + (eight >> 8 * k & 255)];
    }
    for (std::size_t k = 0; i + k < last; ++k) ++own[k * distance + x[i + k]];
  });
  std::uint8_t each[256];
  std::iota(each, each + 256, std::uint8_t{0});
  slot found[256];
  j.search(j.bins_of_samples, each, 256, found);  // bytes are not slots
  std::fill_n(t.of(0), j.places, 0);
  for (std::size_t k = 0; k < word * all.count; ++k) {
    slot places[256];
    std::copy_n(found, 256, places);
    for (slot& s : places) {
      // `begin` and the shares are multiples of a word
      if (j.channels > 1) j.move_to_channels(k % j.channels, 1, &s);
    }
    const std::uint32_t* const of_word = bytes.of(k / word) + k % word * bytes.distance;
    for (std::size_t b = 0; b < 256; ++b) t.of(0)[places[b]] += of_word[b];
  }
}

// --- Many places ---------------------------------------------------------------------------------

/// The samples of a round, sorted by group of places tile by tile; of each the lower bits of its
/// place are kept.
struct sorted_tiles {
  std::size_t samples, groups, tiles;
  std::unique_ptr<std::uint16_t[]> lower;
  std::unique_ptr<std::uint32_t[]> begins;  // of each group of each tile, in it; and the end

  sorted_tiles(std::size_t most, std::size_t places)
      : samples(most),
        groups((places + group - 1) / group),
        tiles((most + tile - 1) / tile),
        lower(new std::uint16_t[tiles * tile]),
        begins(new std::uint32_t[tiles * (groups + 1)]) {}

  std::uint32_t* begins_of(std::size_t t) const { return begins.get() + t * (groups + 1); }
};

/// What a thread needs to sort a tile.
struct sorter {
  std::unique_ptr<slot[]> places{new slot[tile]};
  std::vector<std::uint32_t> next;  // of each group of each stream

  explicit sorter(std::size_t groups) : next(groups * streams) {}

  void sort(const job& j, std::size_t first, std::size_t n, const sorted_tiles& to, std::size_t t) {
    for (std::size_t i = 0; i < n; i += block) {
      const std::size_t count = std::min(block, n - i);
      slot* const here = places.get() + i;
      const slot* const found = j.find(first + i, count, here);
      if (found != here) std::copy_n(found, count, here);
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

/// Counts what tiles [first, last) have of a group.
inline void count_group(const sorted_tiles& all, std::size_t g, std::size_t first, std::size_t last,
                        counters& own) {
  own.clear();
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t* const begins = all.begins_of(i);
    own.count(all.lower.get() + i * tile + begins[g], begins[g + 1] - begins[g]);
  }
  own.fold();
}

/// What rounds of at most so many samples need.
struct sorting {
  sorted_tiles sorted;
  std::vector<sorter> sorters;  // one a thread
  tables counted;
  std::vector<std::size_t> sizes;  // of each group

  sorting(std::size_t most, std::size_t places, std::size_t threads)
      : sorted(most, places), counted(group, threads, copies_for(group)), sizes(sorted.groups) {
    for (std::size_t t = 0; t < threads; ++t) sorters.emplace_back(sorted.groups);
  }
};

/// A round: [begin, end).
template <class C, class Run>
void count_sorted(const job& j, std::size_t begin, std::size_t end, const result<C>& to, sorting& s,
                  const threads<Run>& all) {
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
  // A thread counts a group; all together one that has more than a thread's part of the samples.
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

// --- Counts --------------------------------------------------------------------------------------

template <class Run>
std::size_t find_stray(const job& j, const threads<Run>& all) {
  const std::size_t n = j.a.x.size;
  std::vector<std::size_t> found(all.count, n);
  all([&](std::size_t t) {
    const std::size_t end = share(n, t + 1, all.count, block);
    const std::size_t first = j.first_outside(share(n, t, all.count, block), end);
    if (first < end) found[t] = first;
  });
  return *std::min_element(found.begin(), found.end());
}

/// The index of the first key out of range, if that is an error; else n.
template <class C, class Run>
std::size_t count(const job& j, const threads<Run>& all) {
  const std::size_t n = j.a.x.size;
  const bool are_many = j.places > places_of_one && j.places > places_of_all / all.count;
  const bool few_samples = n <= j.places / (are_many ? 8 : 2);
  const bool sorted = are_many && !few_samples && !are_bytes(j);
  const std::size_t round =
      sorted ? std::min(most_at_once, std::max(j.places, std::size_t{1} << 22)) / tile * tile
             : most_at_once;
  // One table is looked at before it is written.
  if (j.is_strict() && (few_samples || sorted || n > round)) {
    const std::size_t stray = find_stray(j, all);
    if (stray < n) return stray;
  }
  if (few_samples) {
    count_directly(j, result<C>(j.a, j.a.options.add));
    return n;
  }
  // All that the rounds need, before the first of them writes.
  std::optional<sorting> of_sorting;
  std::optional<tables> of_bytes, of_places;
  if (sorted) {
    of_sorting.emplace(std::min(n, round), j.places, all.count);
  } else if (are_bytes(j)) {
    of_bytes.emplace(256, all.count, word);
    of_places.emplace(j.places, 1, 1);
  } else {
    of_places.emplace(j.places, all.count, copies_for(j.places));
  }
  for (std::size_t begin = 0; begin < n; begin += round) {
    const std::size_t end = std::min(n, begin + round);
    const result<C> to(j.a, j.a.options.add || begin > 0);
    if (sorted) {
      count_sorted(j, begin, end, to, *of_sorting, all);
      continue;
    }
    const tables& t = *of_places;
    of_bytes ? count_bytes(j, begin, end, all, *of_bytes, t)
             : count_in_tables(j, begin, end, all, t);
    if (j.is_strict() && n <= round) {
      for (std::size_t k = j.counts; k < j.places; ++k) {
        if (t.sum(k) > 0) return find_stray(j, all);
      }
    }
    all([&](std::size_t thread) {
      to.put_all(share(j.places, thread, all.count, 16), share(j.places, thread + 1, all.count, 16),
                 [&](std::size_t k) { return t.sum(k); });
    });
  }
  return n;
}

// --- Weights -------------------------------------------------------------------------------------

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
      auto* const sums = static_cast<C*>(j.a.counts.data) + first;
      const std::size_t last = share(places, thread + 1, all.count, 16);
      for (std::size_t k = share(places, thread, all.count, 16); k < last; ++k) {
        std::int64_t* const total = words_of(0) + k * sum::words;
        for (std::size_t t = 1; t < all.count; ++t) {
          sum::merge(words_of(t) + k * sum::words, total);
        }
        sums[k] = sum::template round<C>(total, j.a.options.add ? &sums[k] : nullptr);
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

/// A histogram on at most so many threads: `run(count, f)` calls f(0) ... f(count - 1) side by
/// side.
template <class Run>
stray_key count_on_threads(const histogram_arguments& a, const void* bins, slot_search* search,
                           std::size_t threads, const Run& run) {
  using namespace counting;
  const job j{a, bins, search};
  const std::size_t n = a.x.size;
  const counting::threads<Run> all{std::clamp<std::size_t>(n / least_share, 1, threads), run};
  const auto stray_at = [&](std::size_t i) {
    stray_key stray;
    if (i == n) return stray;
    with_type<integer_types>(a.x.element, [&]<class X>() {
      const auto at = static_cast<std::ptrdiff_t>(i) * a.x.increment;
      stray = {static_cast<std::int64_t>(i),
               static_cast<std::int64_t>(static_cast<const types::stored_t<X>*>(a.x.data)[at])};
    });
    return stray;
  };
  if (!a.weighted) {
    return stray_at(with_type<histograms::count_types>(a.counts.element, [&]<class C>() {
      return count<std::make_unsigned_t<C>>(j, all);  // modulo 2^32, 2^64
    }));
  }
  if (j.is_strict()) {
    const std::size_t stray = find_stray(j, all);
    if (stray < n) return stray_at(stray);
  }
  with_type<histograms::weight_types>(a.weights.element, [&]<class W>() {
    with_type<histograms::weight_types>(a.counts.element,
                                        [&]<class C>() { add_weights<W, C>(j, all); });
  });
  return {};
}

}  // namespace tally::backends::simd
