// Histograms over ranks: counts of the samples of all ranks, on every rank. See
// <tally/mpi/histogram.hpp>, also for weights, and <tally/nccl/histogram.hpp>.
#pragma once

#include <tally/distributed/transport.hpp>
#include <tally/operations/histogram.hpp>

#include <cstddef>
#include <optional>

namespace tally::detail {

/// Writes numbers of all ranks, or adds them.
inline void write_counts(const executor& where, const output_operand& counts,
                         const output_operand& to, bool adds) {
  transform(where, adds ? transform_arguments{elementwise::add, {}, {}, counts, to, to}
                        : transform_arguments{elementwise::copy, {}, {}, counts, {}, to});
}

/// Adds no samples, which checks all arguments but the samples.
inline void check_but_samples(const executor& where, histogram_arguments asked) {
  asked.x.size = 0;
  asked.options.add = true;
  histogram(where, asked);
}

/// Redirects the samples outside of all bins to numbers of `ranks`, if asked for. Returns these.
template <class Counting>
output_operand redirect_outside(Counting& ranks, histogram_options& options) {
  if (options.outside == nullptr) return {};
  const output_operand outside = ranks.make(3 * options.channels, type::int64);
  options.outside = static_cast<outside_counts*>(outside.data);
  return outside;
}
inline void write_outside(const executor& where, const output_operand& outside,
                          const histogram_options& options) {
  if (options.outside == nullptr) return;
  write_counts(where, outside, {options.outside, outside.size, 1, type::int64}, options.add);
}

/// Counts over ranks. The transport's `counting` has `where()`; `make(size, type)`, integers where
/// the executor can write; and `add(failed)`, which throws what is kept, or sums these over all
/// ranks.
template <class C>
void count_over(const C& over, const executor& where, const histogram_arguments& asked) {
  typename transport<C>::template counting<C> ranks(over, where, asked);
  std::optional<failure> failed;
  output_operand counts, outside;
  attempt(failed, [&] {
    check_but_samples(ranks.where(), asked);
    histogram_arguments mine = asked;
    mine.options.add = false;
    mine.counts = counts = ranks.make(asked.counts.size, asked.counts.element);
    outside = redirect_outside(ranks, mine.options);
    histogram(ranks.where(), mine);
  });
  ranks.add(failed);
  write_counts(ranks.where(), counts, asked.counts, asked.options.add);
  write_outside(ranks.where(), outside, asked.options);
}

}  // namespace tally::detail

namespace tally::distributed {

/// counts_k = number of keys equal to k on all ranks, k = 0 ... size of counts - 1.
///
/// @param over    a communicator or a layout.
/// @param where, keys  this rank's executor and keys.
/// @param counts  of one size on all ranks, writable by the executor; with `options.add` each rank
///                adds to its own.
/// @param options as for `tally::bincount`; `outside` counts over all ranks.
/// @throws error  as `tally::bincount`.
template <ranks C, detail::key_operand X, counts_output O>
void bincount(const C& over, const executor& where, const X& keys, O&& counts,
              const histogram_options& options = {}) {
  detail::count_over(over, where, detail::counted(detail::of_keys(keys, options), counts));
}

/// Counts in bins of equal width, as `tally::histogram_even`.
template <ranks C, detail::sample_operand X, detail::real_number L, detail::real_number U,
          counts_output O>
void histogram_even(const C& over, const executor& where, const X& samples, L lower, U upper,
                    O&& counts, const histogram_options& options = {}) {
  detail::count_over(over, where,
                     detail::counted(detail::of_even(samples, lower, upper, options), counts));
}

/// Counts between given edges, as `tally::histogram_range`.
template <ranks C, detail::sample_operand X, detail::edge_operand E, counts_output O>
void histogram_range(const C& over, const executor& where, const X& samples, const E& edges,
                     O&& counts, const histogram_options& options = {}) {
  detail::count_over(over, where,
                     detail::counted(detail::of_edges(samples, edges, options), counts));
}

}  // namespace tally::distributed
