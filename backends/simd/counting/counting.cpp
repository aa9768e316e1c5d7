// Counting on the host, on any number of threads; the instruction set finds the slots, a block at a
// time.
//
// A place is the index of what a sample adds to: first the counts (or sums) in the caller's order,
// then three outside counts per channel.
//
//   few samples   are added to the counts directly.
//   few places    tables per thread, several against stalls: adding to a counter waits for the
//                 last store to it.
//   bytes         are counted by value; then the 256 counts find their places.
//   more places   tables of narrow counters, one or two per thread.
//   many places   tiles of samples are sorted by the upper bits of their places; then each group of
//                 places is counted in a small table.
//   weights       limbs of sums (backends/simd/counting/add_weights.hpp).
#include "backends/simd/counting/histogram.hpp"

#include "backends/simd/counting/add_weights.hpp"
#include "backends/simd/counting/count_in_tables.hpp"
#include "backends/simd/counting/count_narrow.hpp"
#include "backends/simd/counting/count_sorted.hpp"
#include "backends/simd/counting/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace tally::backends::simd {
namespace counting {
namespace {

/// Places of a table, and of all threads' tables, either of which suffices for counting in tables;
/// else samples are sorted, unless few (tuning/histogram.md: places_of_one).
constexpr std::size_t places_of_one = 1 << 17, places_of_all = 1 << 22;
/// The same where several threads have half as many samples as places, or more
/// (tuning/histogram.md: places_for_many_samples).
constexpr std::size_t places_for_many_samples = 1 << 21, places_of_all_for_many_samples = 1 << 26;
/// Places of a table of narrow counters (tuning/histogram.md: min_narrow).
constexpr std::size_t min_narrow = 3 << 17, max_narrow = 5 << 20;
/// Places summed by one thread.
constexpr std::size_t places_for_one_thread = 1 << 14;
/// Minimum samples per thread (tuning/histogram.md: min_share).
constexpr std::size_t min_share = 1 << 13;

template <class C>
void count_directly(const job& j, const result<C>& to) {
  if (!to.add) to.clear(j.places);
  const result<C> sum = {j.a, true};
  j.for_each_block(0, j.a.x.size, [&](std::size_t, std::size_t n, const slot* found) {
    for (std::size_t i = 0; i < n; ++i) sum.put(found[i], 1);
  });
}

std::size_t find_stray(const job& j, const threads& all) {
  const std::size_t n = j.a.x.size;
  std::vector<std::size_t> found(all.count, n);
  all([&](std::size_t t) {
    const std::size_t end = share(n, t + 1, all.count, block);
    const std::size_t first = j.first_outside(share(n, t, all.count, block), end);
    if (first < end) found[t] = first;
  });
  return *std::min_element(found.begin(), found.end());
}

/// Returns the index of the first key out of range if that is an error, else n. Not inlined:
/// weights would take this stack, too.
template <class C>
[[gnu::noinline]] std::size_t count(const job& j, const threads& all) {
  const std::size_t n = j.a.x.size;
  const std::size_t of_one_for_many = all.count > 1
                                          ? std::min({places_for_many_samples, 2 * n / all.count,
                                                      places_of_all_for_many_samples / all.count})
                                          : 0;
  const bool are_many = j.places > places_of_one && j.places > places_of_all / all.count &&
                        j.places > of_one_for_many;
  const bool few_samples = n <= j.places / (are_many ? 8 : 2);
  const bool narrow = j.places >= min_narrow && j.places <= max_narrow && n <= max_at_once &&
                      n / all.count >= j.places / 4 && !are_bytes(j);
  const bool sorted = are_many && !few_samples && !narrow && !are_bytes(j);
  const std::size_t round =
      sorted ? std::min(max_at_once, std::max(j.places, std::size_t{1} << 22)) / tile * tile
             : max_at_once;
  // A single table is checked before results are written; otherwise keys are checked first.
  if (j.is_strict() && (few_samples || sorted || n > round)) {
    const std::size_t stray = find_stray(j, all);
    if (stray < n) return stray;
  }
  if (few_samples) {
    count_directly(j, result<C>(j.a, j.a.options.add));
    return n;
  }
  // All memory is allocated before anything is written.
  if (narrow) {
    narrow_tables t(j.places, all.count, n);
    count_in_narrow_tables(j, all, t);
    if (j.is_strict() && t.counted_any(j.counts, j.places - j.counts)) return find_stray(j, all);
    put_narrow(j, all, t, result<C>(j.a, j.a.options.add));
    return n;
  }
  std::optional<sorting> of_sorting;
  std::optional<tables> of_bytes, of_places;
  if (sorted) {
    of_sorting.emplace(std::min(n, round), j.places, all.count);
  } else if (are_bytes(j)) {
    of_bytes.emplace(256, all.count, bytes_at_once);
    of_places.emplace(j.places, 1, 1);
  } else {
    of_places.emplace(j.places, all.count, copies_for(j.places, all.count));
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
    const auto sum = [&](std::size_t k) { return t.sum(k); };
    if (j.places * all.count <= places_for_one_thread) {
      to.put_all(0, j.places, sum);
    } else {
      all([&](std::size_t thread) {
        to.put_all(share(j.places, thread, all.count, 16),
                   share(j.places, thread + 1, all.count, 16), sum);
      });
    }
  }
  return n;
}

}  // namespace
}  // namespace counting

/// Computes a histogram on at most `threads` threads; `run(count, f)` calls f(0) ... f(count - 1)
/// concurrently.
out_of_range_key count_on_threads(const executor& where, const histogram_arguments& a,
                                  const void* bins, slot_search* search, std::size_t threads,
                                  run_on_threads* run) {
  using namespace counting;
  const job j{a, bins, search};
  const std::size_t n = a.x.size;
  const counting::threads all{std::clamp<std::size_t>(n / min_share, 1, threads), run};
  const auto stray_at = [&](std::size_t i) {
    out_of_range_key stray;
    if (i == n) return stray;
    with_type<integer_types>(a.x.element, [&]<class X>() {
      const auto at = static_cast<std::ptrdiff_t>(i) * a.x.increment;
      stray = {static_cast<std::int64_t>(i),
               static_cast<std::int64_t>(static_cast<const detail::stored_t<X>*>(a.x.data)[at])};
    });
    return stray;
  };
  if (!a.weighted) {
    return stray_at(with_type<detail::count_types>(a.counts.element, [&]<class C>() {
      return count<std::make_unsigned_t<C>>(j, all);  // modulo 2^32, 2^64
    }));
  }
  if (j.is_strict()) {
    const std::size_t stray = find_stray(j, all);
    if (stray < n) return stray_at(stray);
  }
  const limb_kernels& kernels = limb_kernels_of(where.instructions());
  with_type<detail::weight_types>(a.weights.element, [&]<class W>() {
    with_type<detail::weight_types>(a.counts.element, [&]<class C>() {
      if (are_chained(j)) return chain_weights<W, C>(j, kernels);
      add_weights<W, C>(j, kernels, all);
    });
  });
  return {};
}

}  // namespace tally::backends::simd
