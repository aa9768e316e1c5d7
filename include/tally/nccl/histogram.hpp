// Histograms over devices: counts of the samples of all ranks, on every rank.
//
// Functions, bins and errors: <tally/histogram.hpp>; no weights. Counts are integers (32-bit ones
// modulo 2^32), so the partition does not matter.
//
// Collective: bins, channels and types agree on all ranks; samples, possibly none, are each rank's
// own. Does not block, except that `bincount` without `outside` waits for this rank's keys. Other
// ranks are not notified of an error.
#pragma once

#include <tally/executor.hpp>
#include <tally/histogram.hpp>
#include <tally/nccl/calls.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/nccl/sums.hpp>
#include <tally/operand.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::nccl {

namespace calls {

/// Sums counts over all ranks, in place.
inline void add_counts(const communicator& over, const executor& where,
                       const output_operand& counts) {
  check(ncclAllReduce(counts.data, counts.data, counts.size,
                      counts.element == type::int32 ? ncclUint32 : ncclUint64, ncclSum, over.get(),
                      where.stream()),
        "ncclAllReduce");
}
inline void write_counts(const executor& where, const output_operand& counts,
                         const output_operand& to, bool adds) {
  transform(where, adds ? transform_arguments{elementwise::add, {}, {}, counts, to, to}
                        : transform_arguments{elementwise::copy, {}, {}, counts, {}, to});
}

inline void count(const communicator& over, const executor& where,
                  const histogram_arguments& asked) {
  over.check_executor(where);
  const histogram_options& options = asked.options;
  // Adding no samples checks every argument but the samples.
  histogram_arguments none = asked;
  none.x.size = 0;
  none.options.add = true;
  histogram(where, none);

  const std::size_t bytes = asked.counts.size * size_of(asked.counts.element);
  const output_operand counts = {over.nodes(where, bytes), asked.counts.size, 1,
                                 asked.counts.element};
  const std::size_t strays = options.outside != nullptr ? 3 * options.channels : 0;
  const output_operand outside = {over.pieces(where, strays * sizeof(std::int64_t)), strays, 1,
                                  type::int64};
  histogram_arguments mine = asked;
  mine.counts = counts;
  mine.options.add = false;
  if (strays > 0) mine.options.outside = static_cast<outside_counts*>(outside.data);
  histogram(where, mine);
  {
    const current_device current(over.device());
    together([&] {
      add_counts(over, where, counts);
      if (strays > 0) add_counts(over, where, outside);
    });
  }
  write_counts(where, counts, asked.counts, options.add);
  if (strays > 0) {
    write_counts(where, outside, {options.outside, strays, 1, type::int64}, options.add);
  }
}

}  // namespace calls

/// counts_k = number of keys equal to k on all ranks, k = 0 ... size of counts - 1.
///
/// @param over    a communicator or a layout.
/// @param where, keys  this rank's executor and keys.
/// @param counts  of one size on all ranks, writable by the executor; with `options.add` each rank
///                adds to its own.
/// @param options as for `tally::bincount`; `outside` counts over all ranks.
/// @throws error  as `tally::bincount`.
template <ranks C, histograms::integers X, counts_output O>
void bincount(const C& over, const executor& where, const X& keys, O&& counts,
              const histogram_options& options = {}) {
  calls::count(calls::communicator_of(over), where,
               histograms::counted(histograms::of_keys(keys, options), counts));
}

/// Counts in bins of equal width, as `tally::histogram_even`.
template <ranks C, histograms::reals X, histograms::real L, histograms::real U, counts_output O>
void histogram_even(const C& over, const executor& where, const X& samples, L lower, U upper,
                    O&& counts, const histogram_options& options = {}) {
  calls::count(calls::communicator_of(over), where,
               histograms::counted(histograms::of_even(samples, lower, upper, options), counts));
}

/// Counts between given edges, as `tally::histogram_range`; edges are in host memory.
template <ranks C, histograms::reals X, histograms::edges E, counts_output O>
void histogram_range(const C& over, const executor& where, const X& samples, const E& edges,
                     O&& counts, const histogram_options& options = {}) {
  calls::count(calls::communicator_of(over), where,
               histograms::counted(histograms::of_edges(samples, edges, options), counts));
}

}  // namespace tally::nccl
