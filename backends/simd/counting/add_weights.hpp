// Exact sums of weights by bin: weighted histograms and scatter_add.
//
// Promise: no addition rounds (backends/simd/counting/limbs.hpp): neither the samples' order nor
// the number of threads matters.
//
//   few bins      a table of all sums per thread.
//   many bins     samples sorted by groups of bins, whose table fits a cache. A thread takes
//                 adjacent samples; the one that begins a group that is cut finishes it.
//   few samples   of a group of bins are strays, so that an empty bin costs nothing.
//   strays        are chained by bin and summed one by one; so are samples much fewer than bins.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/histogram/weights.hpp"
#include "backends/common/memory.hpp"
#include "backends/simd/counting/limbs.hpp"
#include "backends/simd/counting/places.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tally::backends::simd {
namespace counting {

/// Maximum bytes of a thread's table of all bins (tuning/histogram.md: max_bytes_of_table).
inline constexpr std::size_t max_bytes_of_table = std::size_t{1} << 23;
/// Maximum bytes of sorted samples, unless an eighth of them, or a group, takes more. A guess.
inline constexpr std::size_t max_bytes_of_sorted = std::size_t{1} << 27;
/// Maximum bytes of a group's table, and log2 of its bins; one more if groups get many. Not
/// measured.
inline constexpr std::size_t max_bytes_of_group = std::size_t{1} << 21;
inline constexpr int usual_group_bits = 15, max_group_bits = 16;
inline constexpr std::size_t many_groups = 4096;
/// Whether a group's samples are enough for a table: rows of all limbs take long to clear and
/// round. Not measured.
inline bool needs_table(const limb_window& window, std::size_t samples, std::size_t bins) {
  return window.limbs != 0 ? samples >= bins / 8 : samples / 4 >= bins;
}

/// Maximum samples that are chained as strays, and bins, all of which have a chain
/// (tuning/histogram.md: max_chained).
inline constexpr std::size_t max_chained = 256, max_chained_bins = std::size_t{1} << 14;
/// Whether samples are so few that most bins are empty, and bins few enough to be looked at.
inline bool are_chained(const job& j) {
  return j.a.x.size <= max_chained && j.counts > 2 * j.a.x.size && j.counts <= max_chained_bins;
}

// --- Windows -------------------------------------------------------------------------------------

/// Chooses the window by weights at random places: the fewest limbs that (nearly) all of them fit;
/// but for a few far above the others. How many, and which share: not measured.
template <class W>
limb_window window_of(const operand& weights) {
  constexpr std::size_t tried = 1024, outliers = tried / 64;
  struct extent {
    int top, bottom;
  };
  std::vector<extent> seen;
  std::uint64_t random = 1;
  const auto* const w = static_cast<const W*>(weights.data);
  const std::size_t n = std::min(weights.size, tried), step = n > 0 ? weights.size / n : 0;
  seen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::size_t at = step == 1 ? i : i * step + (random >> 33) % step;
    const detail::float_parts<W> v(w[static_cast<std::ptrdiff_t>(at) * weights.increment]);
    if (v.special() || v.zero()) continue;
    seen.push_back({v.exponent + static_cast<int>(std::bit_width(v.significand)),
                    v.exponent + std::countr_zero(v.significand)});
  }
  limb_window window;
  if (!seen.empty()) {
    const auto is_higher = [](const extent& a, const extent& b) { return a.top > b.top; };
    const auto other =
        seen.begin() + static_cast<std::ptrdiff_t>(std::min(outliers, seen.size() - 1));
    std::nth_element(seen.begin(), other, seen.end(), is_higher);
    const auto first = std::min_element(seen.begin(), other + 1, is_higher);
    window.top = first->top > other->top + limb_bits / 2 ? other->top : first->top;
  }
  const int bits_of_last =
      std::min<int>(limb_bits, 62 - static_cast<int>(std::bit_width(weights.size)));
  const int highest = std::min(window.top + 1, max_top);  // others may be larger
  for (const int limbs : {1, 2, max_limbs}) {
    const int below = bits_of_last + (limbs - 1) * limb_bits;
    window.top = std::max(highest, std::numeric_limits<double>::min_exponent - 53 + below);
    window.unit = window.top - below;
    const auto strays = std::count_if(seen.begin(), seen.end(), [&](const extent& e) {
      return e.top > window.top || e.bottom < window.unit;
    });
    const std::size_t allowed = limbs == max_limbs ? seen.size() / 64 : seen.size() / 512;
    window.limbs = static_cast<std::size_t>(strays) <= allowed ? limbs : 0;
    if (window.limbs != 0) break;
  }
  return window;
}

/// Adds to rows of all limbs: no weight is a stray.
template <class W>
std::size_t add_to_all_limbs(const limb_window&, const void* weights, const slot* places,
                             std::size_t n, slot first, slot rows, std::int64_t* table, slot*,
                             void*) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = std::min(places[i] - first, rows);
    weight_sum<W>::add(static_cast<const W*>(weights)[i], table + row * weight_sum<W>::words);
  }
  return 0;
}

/// Moves carries up, so that limbs take more weights, or rows more rows.
inline void settle(int limbs, std::int64_t* table, std::size_t rows) {
  for (std::int64_t* row = table; row < table + rows * static_cast<std::size_t>(limbs);
       row += limbs) {
    for (int l = 0; l + 1 < limbs; ++l) {
      const std::int64_t carry = row[l] >> limb_bits;
      row[l] -= carry * (std::int64_t{1} << limb_bits);
      row[l + 1] += carry;
    }
  }
}

// --- Sums ----------------------------------------------------------------------------------------

/// Part of the samples of adjacent bins: their sums, or none, and strays at [begin, end).
struct partial_sums {
  std::int64_t* table;
  std::size_t begin, end;
};

/// Adds partial sums to bins of type C.
template <class W, class C>
class finished_sums {
 public:
  finished_sums(const histogram_arguments& a, const limb_window& window, const limb_kernels& k)
      : a_(a), window_(window), round_(k.round[kernel_of(window.limbs)][type_of<C>]) {}

  /// Words of a sum in a table.
  std::size_t words() const {
    return static_cast<std::size_t>(window_.limbs != 0 ? window_.limbs : weight_sum<W>::words);
  }

  /// Sets bins [first, last) to their values without weights.
  void start(std::size_t first, std::size_t last) const {
    if (a_.words || a_.scatters) return;
    C* const sums = static_cast<C*>(a_.counts.data);
    if (!a_.options.add) return std::fill(sums + first, sums + last, C{0});
    // As a sum of one term: no -0, canonical NaNs.
    for (std::size_t k = first; k < last; ++k) sums[k] = canonical(sums[k] + C{0});
  }

  /// Adds the rows [begin, end) of bins from `first` on, all parts'.
  void add_tables(std::span<const partial_sums> parts, std::size_t first, std::size_t begin,
                  std::size_t end) const {
    std::int64_t* sums = nullptr;
    for (const partial_sums& p : parts) {
      if (p.table == nullptr) continue;
      std::int64_t* const own = p.table + begin * words();
      if (parts.size() > 1) settle(window_.limbs, own, end - begin);
      if (sums == nullptr) {
        sums = own;
      } else {
        add_rows(own, end - begin, sums);
      }
    }
    if (sums == nullptr) return;
    if (window_.limbs != 0 && !a_.words) {
      return round_(window_, sums, end - begin, static_cast<C*>(a_.counts.data) + first + begin);
    }
    for (std::size_t k = begin; k < end; ++k, sums += words()) {
      if (std::any_of(sums, sums + words(), [](std::int64_t word) { return word != 0; })) {
        exact_sum<double> sum = sum_of(sums);
        add(sum, first + k);
      }
    }
  }

  /// Adds bins that have strays, and clears their rows. All `heads`, one per bin, are `none`,
  /// before and after; chains are per stray.
  void add_strays(std::span<const partial_sums> parts, std::size_t first, const slot* places,
                  const W* strays, std::uint32_t* heads, std::uint32_t* chains) const {
    bool have_tables = false;
    for (const partial_sums& p : parts) {
      have_tables |= p.table != nullptr;
      for (std::size_t i = p.begin; i < p.end; ++i) {
        std::uint32_t& head = heads[places[i] - first];
        chains[i] = head;
        head = static_cast<std::uint32_t>(i);
      }
    }
    for (const partial_sums& p : parts) {
      for (std::size_t i = p.begin; i < p.end; ++i) {
        const std::size_t row = places[i] - first;
        const std::uint32_t head = std::exchange(heads[row], none);
        if (head == none) continue;
        if (!have_tables && add_chain(strays, head, chains, places[i])) continue;
        exact_sum<double> sum;
        for (const partial_sums& t : parts) {
          if (t.table == nullptr) continue;
          sum.merge(sum_of(t.table + row * words()));
          std::fill_n(t.table + row * words(), words(), 0);
        }
        for (std::uint32_t k = head; k != none; k = chains[k]) sum.add(strays[k]);
        add(sum, places[i]);
      }
    }
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};

 private:
  void add_rows(const std::int64_t* from, std::size_t rows, std::int64_t* to) const {
    if (window_.limbs != 0) {
      for (std::size_t i = 0; i < rows * words(); ++i) to[i] += from[i];
    } else {
      for (std::size_t i = 0; i < rows * words(); i += words()) {
        weight_sum<W>::merge(from + i, to + i);
      }
    }
  }
  exact_sum<double> sum_of(const std::int64_t* row) const {
    return window_.limbs != 0 ? sum_of_limbs(window_, row) : weight_sum<W>::sum_of(row);
  }

  void add(exact_sum<double>& sum, std::size_t k) const {
    if (a_.words) {
      return with_type<detail::weight_types>(a_.counts.element, [&]<class T>() {
        auto* const to = static_cast<std::int64_t*>(a_.counts.data) + k * exact_sum<T>::words;
        add_normal_form<T>(sum.to_words().data(), to, wrapping_add());
      });
    }
    if (sum == exact_sum<double>()) return;
    C& y = static_cast<C*>(a_.counts.data)[k];
    sum.add(static_cast<double>(y));
    y = sum.template round<C>();
  }

  /// Adds a chain of weights, if one addition rounds correctly: of one, or of two where there was
  /// 0.
  bool add_chain(const W* weights, std::uint32_t head, const std::uint32_t* chains,
                 std::size_t k) const {
    if constexpr (sizeof(W) > sizeof(C)) return false;
    if (a_.words) return false;
    C& y = static_cast<C*>(a_.counts.data)[k];
    const C weight = static_cast<C>(weights[head]);
    C other = y;
    if (const std::uint32_t second = chains[head]; second != none) {
      if (chains[second] != none || y != 0) return false;
      other = static_cast<C>(weights[second]);
    }
    const C sum = other + weight;
    if (!std::isfinite(sum)) return false;
    // A sum of 0 leaves its 0, whatever the sign.
    if (y != 0 ? weight != 0 : sum != 0) y = sum;
    return true;
  }

  const histogram_arguments& a_;
  const limb_window& window_;
  round_limbs* round_;
};

/// Samples to be added: by index, a block at a time.
template <class W>
struct weighted_samples {
  const job& j;
  limb_window window;
  add_to_limbs* kernel;

  weighted_samples(const job& job_of, const limb_kernels& k)
      : j(job_of),
        window(window_of<W>(j.a.weights)),
        kernel(k.add[kernel_of(window.limbs)][type_of<W>]) {
    if (window.limbs == 0) take_all();
  }

  /// All limbs instead of a window's.
  void take_all() {
    window.limbs = 0;
    kernel = &add_to_all_limbs<W>;
  }

  /// Calls f(n, places, weights) for blocks of samples [begin, end), weights contiguous.
  template <class F>
  void for_each_block(std::size_t begin, std::size_t end, const F& f) const {
    j.for_each_block(begin, end, [&](std::size_t first, std::size_t n, const slot* found) {
      const operand weights = j.a.weights.slice(first, n);
      if (weights.increment == 1) return f(n, found, static_cast<const W*>(weights.data));
      W gathered[gathered_at_once];
      for (std::size_t i = 0; i < n; i += gathered_at_once) {
        const std::size_t count = std::min(gathered_at_once, n - i);
        gather(weights.slice(i, count), reinterpret_cast<std::byte*>(gathered));
        f(count, found + i, gathered);
      }
    });
  }

 private:
  /// Few: a block's places, and what f keeps, are on the stack too.
  static constexpr std::size_t gathered_at_once = 512;
};

/// Sums of weights in a table per thread.
template <class W, class C>
class weight_tables {
 public:
  weight_tables(const weighted_samples<W>& samples, const finished_sums<W, C>& sums,
                const threads& all)
      : samples_(samples),
        sums_(sums),
        all_(all),
        rows_(samples.j.counts + 1),
        room_(samples.j.a.x.size / all.count / 32 + block),
        tables_(make_table<std::int64_t>(rows_ * sums.words() * all.count)),
        places_(make_table<slot>(room_ * all.count)),
        strays_(make_table<W>(room_ * all.count)) {}

  /// Whether tables are small enough.
  static bool fit(const weighted_samples<W>& samples, std::size_t words, const threads& all) {
    const std::size_t bins = samples.j.counts, n = samples.j.a.x.size;
    return bins * words * sizeof(std::int64_t) <= max_bytes_of_table &&
           needs_table(samples.window, n, bins) &&
           bins <= 2 * n / (all.count == 1 ? 1 : 4 * all.count);
  }

  /// Adds up the samples and counts those outside. Returns false if there are many strays.
  bool sum(std::uint64_t* outside) {
    const job& j = samples_.j;
    const std::size_t n = j.a.x.size, words = rows_ * sums_.words();
    std::fill_n(outside, all_.count * (j.places - j.counts), 0);
    parts_.resize(all_.count);
    std::vector<char> has_room(all_.count, true);
    all_([&](std::size_t t) {
      std::int64_t* const table = &tables_[t * words];
      std::fill_n(table, words, 0);
      std::uint64_t* const own_outside = outside + t * (j.places - j.counts);
      std::size_t found = 0, unsettled = 0;
      bool fits = true;
      samples_.for_each_block(
          share(n, t, all_.count, block), share(n, t + 1, all_.count, block),
          [&](std::size_t count, const slot* places, const W* weights) {
            if (!j.is_strict() && *std::max_element(places, places + count) >= j.counts) {
              for (std::size_t i = 0; i < count; ++i) {
                if (places[i] >= j.counts) ++own_outside[places[i] - j.counts];
              }
            }
            if (!fits) return;
            if ((unsettled += count) > max_unsettled) {
              settle(samples_.window.limbs, table, rows_);
              unsettled = count;
            }
            const std::size_t at = t * room_ + found;
            found +=
                samples_.kernel(samples_.window, weights, places, count, 0,
                                static_cast<slot>(j.counts), table, &places_[at], &strays_[at]);
            fits = room_ - found >= block;
          });
      parts_[t] = {table, t * room_, t * room_ + found};
      has_room[t] = fits;
    });
    if (std::count(has_room.begin(), has_room.end(), false) > 0) return false;
    const auto has_strays = [](const partial_sums& p) { return p.begin < p.end; };
    if (std::any_of(parts_.begin(), parts_.end(), has_strays)) {
      heads_.assign(j.counts, sums_.none);
      chains_.reset(new std::uint32_t[room_ * all_.count]);
    }
    return true;
  }

  void finish() {
    const std::size_t bins = rows_ - 1;
    if (!heads_.empty()) {
      sums_.add_strays(parts_, 0, places_.get(), strays_.get(), heads_.data(), chains_.get());
    }
    all_([&](std::size_t t) {
      sums_.add_tables(parts_, 0, share(bins, t, all_.count, 16),
                       share(bins, t + 1, all_.count, 16));
    });
  }

 private:
  const weighted_samples<W>& samples_;
  const finished_sums<W, C>& sums_;
  const threads& all_;
  std::size_t rows_;
  std::size_t room_;  // of a thread, for strays
  table_memory<std::int64_t> tables_;
  table_memory<slot> places_;
  table_memory<W> strays_;
  std::vector<partial_sums> parts_;
  std::vector<std::uint32_t> heads_;
  std::unique_ptr<std::uint32_t[]> chains_;
};

/// Samples sorted by groups of bins, in rounds of as many groups as fit.
template <class W, class C>
class sorted_weights {
 public:
  /// Counts the samples of each group, and in `outside` those without a bin.
  sorted_weights(const weighted_samples<W>& samples, const finished_sums<W, C>& sums,
                 const threads& all, std::uint64_t* outside)
      : samples_(samples),
        sums_(sums),
        all_(all),
        bits_(bits_for(samples.j.counts, sums.words())),
        groups_((samples.j.counts >> bits_) + 1),
        sizes_(groups_),
        next_(groups_ * all.count),
        begins_(groups_ + 1),
        cut_(all.count),
        parts_of_(all.count),
        heads_(all.count << bits_, sums_.none) {
    const job& j = samples.j;
    const std::size_t n = j.a.x.size, slots = j.places - j.counts;
    std::fill_n(outside, slots * all.count, 0);
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
    std::size_t total = 0, longest = 0;
    for (std::size_t g = 0; g < groups_; ++g) {
      for (std::size_t t = 0; t < all.count; ++t) sizes_[g] += next_[t * groups_ + g];
      total += sizes_[g];
      longest = std::max(longest, sizes_[g]);
    }
    constexpr std::size_t bytes = sizeof(slot) + sizeof(W) + sizeof(std::uint32_t);
    room_ = std::min(total, std::max({max_bytes_of_sorted / bytes, n / 8, longest}));
    places_ = make_table<slot>(room_);
    weights_ = make_table<W>(room_);
    chains_.reset(new std::uint32_t[room_]);
    tables_ = make_table<std::int64_t>(2 * all.count * words_of_table());
    for (auto& parts : cut_) parts.reserve(2);
    for (auto& parts : parts_of_) parts.reserve(all.count);
  }

  void add() {
    for (std::size_t g = 0, last = 0; g < groups_; g = last) {
      begins_[g] = 0;
      for (; last < groups_ && begins_[last] + sizes_[last] <= room_; ++last) {
        begins_[last + 1] = begins_[last] + sizes_[last];
      }
      if (begins_[last] == 0) continue;
      sort(g, last);
      all_([&](std::size_t t) { add_share(t, g, last); });
      all_([&](std::size_t t) { finish_cut(t); });
    }
  }

 private:
  /// Part of a group's samples that one thread sums.
  struct cut_group {
    std::size_t group;
    bool is_first;
    partial_sums sums;
  };

  static int bits_for(std::size_t bins, std::size_t words) {
    int bits = std::min(usual_group_bits, static_cast<int>(std::bit_width(bins)));
    const auto fits = [&] { return words * sizeof(std::int64_t) << bits <= max_bytes_of_group; };
    while (!fits()) --bits;
    while (bits < max_group_bits && fits() && bins >> bits > many_groups) ++bits;
    return bits;
  }
  std::size_t words_of_table() const { return ((std::size_t{1} << bits_) + 1) * sums_.words(); }
  std::size_t first_bin(std::size_t g) const { return g << bits_; }
  std::size_t bins_of(std::size_t g) const {
    return std::min(std::size_t{1} << bits_, samples_.j.counts - first_bin(g));
  }

  void sort(std::size_t g, std::size_t last) {
    const job& j = samples_.j;
    const std::size_t n = j.a.x.size, threads = all_.count;
    // Counts become begins of each group's samples, thread by thread.
    for (std::size_t k = g; k < last; ++k) {
      auto at = static_cast<std::uint32_t>(begins_[k]);
      for (std::size_t t = 0; t < threads; ++t) {
        const std::uint32_t count = next_[t * groups_ + k];
        next_[t * groups_ + k] = at;
        at += count;
      }
    }
    const std::size_t first = first_bin(g), places = std::min(first_bin(last), j.counts) - first;
    all_([&](std::size_t t) {
      std::uint32_t* const next = &next_[t * groups_];
      samples_.for_each_block(share(n, t, threads, block), share(n, t + 1, threads, block),
                              [&](std::size_t count, const slot* found, const W* weights) {
                                for (std::size_t i = 0; i < count; ++i) {
                                  if (found[i] - first >= places) continue;
                                  const std::uint32_t at = next[found[i] >> bits_]++;
                                  places_[at] = found[i];
                                  weights_[at] = weights[i];
                                }
                              });
    });
  }

  /// Adds a thread's samples: groups that are all its own, and parts of at most two more.
  void add_share(std::size_t t, std::size_t g, std::size_t last) {
    const std::size_t n = begins_[last];
    const std::size_t begin = share(n, t, all_.count, 1), end = share(n, t + 1, all_.count, 1);
    cut_[t].clear();
    if (begin == end) return;
    const auto after = std::upper_bound(begins_.begin() + static_cast<std::ptrdiff_t>(g),
                                        begins_.begin() + static_cast<std::ptrdiff_t>(last), begin);
    auto k = static_cast<std::size_t>(after - begins_.begin()) - 1;
    for (std::size_t at = begin; at < end; ++k) {
      const std::size_t stop = std::min(end, begins_[k + 1]);
      if (at == stop) continue;
      const bool is_first = at == begins_[k];
      const partial_sums sums = sum_some(t, is_first, k, at, stop);
      if (is_first && stop == begins_[k + 1]) {
        finish(t, k, {&sums, 1});
      } else {
        cut_[t].push_back({k, is_first, sums});
      }
      at = stop;
    }
  }

  /// Sums samples [begin, end) of group k; strays move to the front.
  partial_sums sum_some(std::size_t t, bool is_first, std::size_t k, std::size_t begin,
                        std::size_t end) {
    const std::size_t bins = bins_of(k);
    if (!needs_table(samples_.window, end - begin, bins)) return {nullptr, begin, end};
    std::int64_t* const table = &tables_[(2 * t + is_first) * words_of_table()];
    std::fill_n(table, (bins + 1) * sums_.words(), 0);
    std::size_t strays = begin;
    for (std::size_t at = begin; at < end; at += max_unsettled) {
      if (at > begin) settle(samples_.window.limbs, table, bins);
      strays +=
          samples_.kernel(samples_.window, &weights_[at], &places_[at],
                          std::min(max_unsettled, end - at), static_cast<slot>(first_bin(k)),
                          static_cast<slot>(bins), table, &places_[strays], &weights_[strays]);
    }
    return {table, begin, strays};
  }

  void finish(std::size_t t, std::size_t k, std::span<const partial_sums> parts) {
    sums_.add_strays(parts, first_bin(k), places_.get(), weights_.get(), &heads_[t << bits_],
                     chains_.get());
    sums_.add_tables(parts, first_bin(k), 0, bins_of(k));
  }

  /// Finishes the group that the thread's samples end with, if others have samples of it.
  void finish_cut(std::size_t t) {
    if (cut_[t].empty() || !cut_[t].back().is_first) return;
    const std::size_t k = cut_[t].back().group;
    std::size_t end = t + 1;
    while (end < cut_.size() && !cut_[end].empty() && cut_[end].front().group == k) ++end;
    // The first parts of the others come before their own last ones.
    std::vector<partial_sums>& parts = parts_of_[t];
    parts.clear();
    parts.push_back(cut_[t].back().sums);
    for (std::size_t other = t + 1; other < end; ++other) {
      parts.push_back(cut_[other].front().sums);
    }
    finish(t, k, parts);
  }

  const weighted_samples<W>& samples_;
  const finished_sums<W, C>& sums_;
  const threads& all_;
  int bits_;
  std::size_t groups_;
  std::vector<std::size_t> sizes_;   // per group
  std::vector<std::uint32_t> next_;  // per thread and group
  std::size_t room_ = 0;
  std::vector<std::size_t> begins_;
  table_memory<slot> places_;
  table_memory<W> weights_;
  std::unique_ptr<std::uint32_t[]> chains_;
  table_memory<std::int64_t> tables_;
  // Per thread:
  std::vector<std::vector<cut_group>> cut_;
  std::vector<std::vector<partial_sums>> parts_of_;
  std::vector<std::uint32_t> heads_;
};

/// Puts the counts of samples without a bin, the sums of `count` adjacent arrays of them.
inline void put_outside(const job& j, const std::uint64_t* outside, std::size_t count) {
  const std::size_t slots = j.places - j.counts;
  const result<std::uint64_t> to(j.a, j.a.options.add);
  for (std::size_t k = 0; k < slots; ++k) {
    std::uint64_t total = 0;
    for (std::size_t t = 0; t < count; ++t) total += outside[t * slots + k];
    to.put(j.counts + k, total);
  }
}

/// Few samples. Not inlined: others need the stack.
template <class W, class C>
[[gnu::noinline]] void chain_weights(const job& j, const limb_kernels& kernels) {
  const std::size_t n = j.a.x.size;
  const limb_window none;
  const finished_sums<W, C> sums(j.a, none, kernels);
  std::vector<std::uint32_t> heads(j.counts, sums.none);
  std::vector<std::uint64_t> outside(j.places - j.counts);
  slot room[max_chained], places[max_chained];
  W weights[max_chained];
  std::uint32_t chains[max_chained];
  const slot* const found = j.find(0, n, room);
  gather(j.a.weights, reinterpret_cast<std::byte*>(weights));
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (found[i] < j.counts) {
      places[count] = found[i];
      weights[count++] = weights[i];
    } else {
      ++outside[found[i] - j.counts];
    }
  }
  sums.start(0, j.counts);
  const partial_sums all{nullptr, 0, count};
  sums.add_strays({&all, 1}, 0, places, weights, heads.data(), chains);
  put_outside(j, outside.data(), 1);
}

template <class W, class C>
void add_weights(const job& j, const limb_kernels& kernels, const threads& all) {
  const std::size_t slots = j.places - j.counts;
  const std::unique_ptr<std::uint64_t[]> outside(new std::uint64_t[slots * all.count]);
  weighted_samples<W> samples(j, kernels);
  const finished_sums<W, C> sums(j.a, samples.window, kernels);
  const auto start = [&] {
    all([&](std::size_t t) {
      sums.start(share(j.counts, t, all.count, 16), share(j.counts, t + 1, all.count, 16));
    });
  };
  // All memory is allocated before anything is written.
  const auto sum_in_tables = [&] {
    if (!weight_tables<W, C>::fit(samples, sums.words(), all)) return false;
    weight_tables<W, C> tables(samples, sums, all);
    if (!tables.sum(outside.get())) {
      samples.take_all();
      return false;
    }
    start();
    tables.finish();
    return true;
  };
  // The second time, perhaps, with all limbs.
  if (!sum_in_tables() && !sum_in_tables()) {
    sorted_weights<W, C> sorted(samples, sums, all, outside.get());
    start();
    sorted.add();
  }
  put_outside(j, outside.get(), all.count);
}

}  // namespace counting
}  // namespace tally::backends::simd
