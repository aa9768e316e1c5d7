// Weighted histograms.
//
// Promise: no addition rounds (backends/common/histogram/weights.hpp).
//
//   few bins, many samples   tables of all bins' limbs, one per thread.
//   otherwise                samples sorted by groups of bins, chained and summed by bin. An empty
//                            bin costs only its zero; memory grows with the samples alone.
//   a group with most        tables again: one thread would sum it alone.
#pragma once

#include "backends/common/histogram/weights.hpp"
#include "backends/simd/counting/places.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tally::backends::simd {
namespace counting {

/// Maximum bytes of all threads' tables, and of sorted samples unless an eighth of them takes more.
/// A guess.
inline constexpr std::size_t max_bytes_of_weights = std::size_t{1} << 27;
/// Maximum bytes of a table: a core's second-level cache.
inline constexpr std::size_t max_bytes_of_table = std::size_t{1} << 21;

/// Sum of a bin's weights: limbs of an exact_sum<double>; [low_, high_) may be nonzero.
class bin_sum {
  using exact = exact_sum<double>;
  template <class W>
  static constexpr int offset =
      (weight_sum<W>::exact::lowest_exponent - exact::lowest_exponent) / 32 +
      weight_sum<W>::first_limb;

 public:
  /// The weight may also be the bin's old value.
  template <class W>
  void add(W weight) {
    using sum = weight_sum<W>;
    if (weight == 0) return;
    const auto p = sum::split(weight);
    if (p.special_bit != 0) {
      specials_ |= p.special_bit;
      return;
    }
    const int first = offset<W> + p.word;
    low_ = std::min(low_, first);
    high_ = std::max(high_, first + sum::digits);
    for (int i = 0; i < sum::digits; ++i) words_[first + i] += p.digit[i];
  }
  template <class W>
  void add_words(const std::int64_t* from) {
    using sum = weight_sum<W>;
    int first = 0, last = sum::limbs;
    while (first < last && from[first] == 0) ++first;
    while (first < last && from[last - 1] == 0) --last;
    for (int i = first; i < last; ++i) words_[offset<W> + i] += from[i];
    if (first < last) {
      low_ = std::min(low_, offset<W> + first);
      high_ = std::max(high_, offset<W> + last);
    }
    specials_ |= from[sum::special];
  }

  /// Adds the sum to bin k, or sets it; then clears the sum.
  template <class C>
  void finish(const histogram_arguments& a, std::size_t k) {
    if (a.words) {
      add_to_words<C>(static_cast<std::int64_t*>(a.counts.data) + k * exact_sum<C>::words);
    } else {
      C& to = static_cast<C*>(a.counts.data)[k];
      if (a.options.add) add(to);
      words_[exact::nan_word] = specials_ & nan_bit;
      words_[exact::plus_infinity_word] = specials_ & plus_infinity_bit;
      words_[exact::minus_infinity_word] = specials_ & minus_infinity_bit;
      to = low_ < high_ || specials_ != 0 ? exact::round_words<C>(words_, low_, high_ + 1) : C{0};
    }
    if (low_ < high_) std::fill(words_ + low_, words_ + high_, 0);
    low_ = exact::limbs, high_ = 0, specials_ = 0;
  }

 private:
  static constexpr std::int64_t nan_bit = weight_sum<double>::nan_bit,
                                plus_infinity_bit = weight_sum<double>::plus_infinity_bit,
                                minus_infinity_bit = weight_sum<double>::minus_infinity_bit;

  template <class T>
  void add_to_words(std::int64_t* to) const {
    using some = exact_sum<T>;
    constexpr int below = (some::lowest_exponent - exact::lowest_exponent) / 32;
    std::int64_t carry = 0;
    for (int i = low_; i < high_; ++i) {
      to[i - below] += (words_[i] & 0xffffffff) + carry;
      carry = words_[i] >> 32;
    }
    if (carry != 0) to[high_ - below] += carry;
    to[some::nan_word] += (specials_ & nan_bit) != 0;
    to[some::plus_infinity_word] += (specials_ & plus_infinity_bit) != 0;
    to[some::minus_infinity_word] += (specials_ & minus_infinity_bit) != 0;
  }

  std::int64_t words_[exact::words] = {};
  int low_ = exact::limbs, high_ = 0;
  std::int64_t specials_ = 0;
};

/// Sets bins [first, last) to their values without weights.
template <class C>
void start_bins(const histogram_arguments& a, std::size_t first, std::size_t last) {
  if (a.words) return;
  C* const sums = static_cast<C*>(a.counts.data);
  if (!a.options.add) return std::fill(sums + first, sums + last, C{0});
  // As a sum of one term: no -0, canonical NaNs.
  for (std::size_t k = first; k < last; ++k) sums[k] = canonical(sums[k] + C{0});
}

template <class W, class F>
void for_each_weight(const job& j, std::size_t begin, std::size_t end, const F& f) {
  j.for_each_block(begin, end, [&](std::size_t at, std::size_t count, const slot* found) {
    const operand weights = j.a.weights.slice(at, count);
    const auto* const w = static_cast<const W*>(weights.data);
    for (std::size_t i = 0; i < count; ++i) {
      f(found[i], w[static_cast<std::ptrdiff_t>(i) * weights.increment]);
    }
  });
}

template <class W>
class weight_tables {
  using sum = weight_sum<W>;

 public:
  weight_tables(std::size_t bins, std::size_t threads)
      : at_once_(std::min(
            bins, std::max<std::size_t>(1024, max_bytes_of_weights / 8 / sum::words / threads))),
        words_(new std::int64_t[at_once_ * sum::words * threads]) {}

  /// Adds all samples of bins [begin, end). `outside`, if not null, counts each thread's samples
  /// without a bin.
  template <class C>
  void add(const job& j, std::size_t begin, std::size_t end, const threads& all,
           std::uint64_t* outside = nullptr) const {
    const std::size_t n = j.a.x.size;
    for (std::size_t first = begin; first < end; first += at_once_) {
      const std::size_t bins = std::min(at_once_, end - first);
      all([&](std::size_t thread) {
        std::int64_t* const own = words_per(thread);
        std::uint64_t* const own_outside = outside != nullptr && first == begin
                                               ? outside + thread * (j.places - j.counts)
                                               : nullptr;
        std::fill_n(own, bins * sum::words, 0);
        for_each_weight<W>(j, share(n, thread, all.count, block),
                           share(n, thread + 1, all.count, block), [&](slot place, W weight) {
                             const std::size_t k = place - first;
                             if (k < bins) {
                               sum::add(weight, own + k * sum::words);
                             } else if (own_outside != nullptr && place >= j.counts) {
                               ++own_outside[place - j.counts];
                             }
                           });
      });
      all([&](std::size_t thread) {
        bin_sum total;
        const std::size_t last = share(bins, thread + 1, all.count, 16);
        for (std::size_t k = share(bins, thread, all.count, 16); k < last; ++k) {
          for (std::size_t t = 0; t < all.count; ++t) {
            total.add_words<W>(words_per(t) + k * sum::words);
          }
          total.finish<C>(j.a, first + k);
        }
      });
    }
  }

 private:
  std::int64_t* words_per(std::size_t thread) const {
    return &words_[thread * at_once_ * sum::words];
  }

  std::size_t at_once_;
  std::unique_ptr<std::int64_t[]> words_;
};

/// Samples of adjacent groups of bins, sorted by group.
template <class W>
class sorted_weights {
  /// log2 of bins per group, whose chains begin in the caches.
  static constexpr int min_bits = 4, usual_bits = 12, max_bits = 16;
  static constexpr std::size_t many_groups = 4096;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

 public:
  /// Counts the samples of each group, and in `outside` those without a bin.
  sorted_weights(const job& j, const threads& all, std::uint64_t* outside)
      : bits_(bits_for(j.counts, all.count)),
        groups_((j.counts >> bits_) + 1),
        sizes_(groups_),
        next_(groups_ * all.count) {
    const std::size_t n = j.a.x.size, slots = j.places - j.counts;
    all([&](std::size_t thread) {
      std::uint32_t* const own = &next_[thread * groups_];
      std::uint64_t* const own_outside = outside + thread * slots;
      j.for_each_block(share(n, thread, all.count, block), share(n, thread + 1, all.count, block),
                       [&](std::size_t, std::size_t count, const slot* found) {
                         for (std::size_t i = 0; i < count; ++i) {
                           if (found[i] < j.counts) {
                             ++own[found[i] >> bits_];
                           } else {
                             ++own_outside[found[i] - j.counts];
                           }
                         }
                       });
    });
    for (std::size_t t = 0; t < all.count; ++t) {
      for (std::size_t g = 0; g < groups_; ++g) sizes_[g] += next_[t * groups_ + g];
    }
    constexpr std::size_t bytes = sizeof(slot) + sizeof(W) + sizeof(std::uint32_t);
    const std::size_t most = std::max(max_bytes_of_weights / bytes, n / 8);
    // Four times a thread's average, for one thread.
    max_group_ = all.count == 1 ? most : std::min(most, 4 * (n / all.count));
    std::size_t longest = 0;
    for (std::size_t g = 0; g < groups_; ++g) {
      if (!is_large(g)) longest += sizes_[g];
    }
    room_ = std::min(longest, most);
    places_.reset(new slot[room_]);
    weights_.reset(new W[room_]);
    chains_.reset(new std::uint32_t[room_]);
    begins_.resize(groups_ + 1);
    heads_.reset(new std::uint32_t[all.count << bits_]);
  }

  std::size_t groups() const { return groups_; }
  bool is_large(std::size_t g) const { return sizes_[g] > max_group_; }
  std::size_t first_bin(std::size_t g) const { return g << bits_; }
  std::size_t bins_of_group() const { return std::size_t{1} << bits_; }

  /// Adds groups from g on, as many as fit, and returns the next.
  template <class C>
  std::size_t add(const job& j, std::size_t g, const threads& all) {
    std::size_t last = g;
    begins_[g] = 0;
    for (; last < groups_ && !is_large(last) && begins_[last] + sizes_[last] <= room_; ++last) {
      begins_[last + 1] = begins_[last] + sizes_[last];
    }
    if (begins_[last] == 0) return last;
    sort(j, g, last, all);
    std::atomic<std::size_t> next_group = g;
    all([&](std::size_t thread) {
      std::uint32_t* const heads = &heads_[thread << bits_];
      std::fill_n(heads, bins_of_group(), none);
      bin_sum sum;
      for (std::size_t k; (k = next_group.fetch_add(1, std::memory_order_relaxed)) < last;) {
        add_group<C>(j, k, heads, sum);
      }
    });
    return last;
  }

 private:
  static int bits_for(std::size_t bins, std::size_t threads) {
    int bits = usual_bits;
    while (bits < max_bits && bins >> bits > many_groups) ++bits;
    while (bits > min_bits && bins >> bits < 8 * threads) --bits;
    return bits;
  }

  void sort(const job& j, std::size_t g, std::size_t last, const threads& all) {
    const std::size_t n = j.a.x.size;
    // Counts become begins of each group's samples, thread by thread.
    for (std::size_t k = g; k < last; ++k) {
      auto at = static_cast<std::uint32_t>(begins_[k]);
      for (std::size_t t = 0; t < all.count; ++t) {
        const std::uint32_t count = next_[t * groups_ + k];
        next_[t * groups_ + k] = at;
        at += count;
      }
    }
    const std::size_t first_place = first_bin(g);
    const std::size_t places = std::min(first_bin(last), j.counts) - first_place;
    all([&](std::size_t thread) {
      std::uint32_t* const next = &next_[thread * groups_];
      for_each_weight<W>(j, share(n, thread, all.count, block),
                         share(n, thread + 1, all.count, block), [&](slot place, W weight) {
                           if (place - first_place >= places) return;
                           const std::uint32_t at = next[place >> bits_]++;
                           places_[at] = place;
                           weights_[at] = weight;
                         });
    });
  }

  /// All heads are `none`, before and after.
  template <class C>
  void add_group(const job& j, std::size_t g, std::uint32_t* heads, bin_sum& sum) {
    const std::size_t first = first_bin(g);
    const auto begin = static_cast<std::uint32_t>(begins_[g]);
    const auto end = static_cast<std::uint32_t>(begins_[g + 1]);
    for (std::uint32_t i = begin; i < end; ++i) {
      std::uint32_t& head = heads[places_[i] - first];
      chains_[i] = head;
      head = i;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      std::uint32_t& head = heads[places_[i] - first];
      if (head == none) continue;
      for (std::uint32_t k = head; k != none; k = chains_[k]) sum.add(weights_[k]);
      head = none;
      sum.template finish<C>(j.a, places_[i]);
    }
  }

  int bits_;
  std::size_t groups_;
  std::vector<std::size_t> sizes_;   // per group
  std::vector<std::uint32_t> next_;  // per thread and group
  std::size_t max_group_ = 0, room_ = 0;
  std::vector<std::size_t> begins_;
  std::unique_ptr<slot[]> places_;
  std::unique_ptr<W[]> weights_;
  std::unique_ptr<std::uint32_t[]> chains_, heads_;
};

template <class W, class C>
void add_weights(const job& j, const threads& all) {
  const std::size_t n = j.a.x.size, slots = j.places - j.counts;
  const std::unique_ptr<std::uint64_t[]> outside(new std::uint64_t[slots * all.count]());
  const auto start = [&] {
    all([&](std::size_t thread) {
      start_bins<C>(j.a, share(j.counts, thread, all.count, 16),
                    share(j.counts, thread + 1, all.count, 16));
    });
  };
  // All memory is allocated before anything is written.
  if (j.counts <= n / 4 && j.counts * weight_sum<W>::words * 8 <= max_bytes_of_table) {
    const weight_tables<W> tables(j.counts, all.count);
    start();
    tables.template add<C>(j, 0, j.counts, all, outside.get());
  } else {
    sorted_weights<W> sorted(j, all, outside.get());
    std::optional<weight_tables<W>> tables;
    for (std::size_t g = 0; g < sorted.groups() && !tables; ++g) {
      if (sorted.is_large(g)) tables.emplace(sorted.bins_of_group(), all.count);
    }
    start();
    for (std::size_t g = 0; g < sorted.groups();) {
      if (tables && sorted.is_large(g)) {
        const std::size_t first = sorted.first_bin(g++);
        tables->template add<C>(j, first, std::min(sorted.first_bin(g), j.counts), all);
      } else {
        g = sorted.template add<C>(j, g, all);
      }
    }
  }
  const result<std::uint64_t> to(j.a, j.a.options.add);
  for (std::size_t k = 0; k < slots; ++k) {
    std::uint64_t total = 0;
    for (std::size_t t = 0; t < all.count; ++t) total += outside[t * slots + k];
    to.put(j.counts + k, total);
  }
}

}  // namespace counting
}  // namespace tally::backends::simd
