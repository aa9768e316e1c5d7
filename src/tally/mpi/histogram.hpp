// Histograms over ranks: how many samples of all ranks are in each bin, on every rank.
//
// Counts are integers, so neither the number of ranks nor the cut enters. Functions, bins and
// errors are those of <tally/histogram.hpp>, but for weights, which are not counted over ranks: add
// them up rank by rank, or in the exact grade bin by bin.
//
// Collective: all ranks make the same call, with the same bins, channels and types, each with its
// own samples, of which there may be none, and its own executor. It blocks. What one rank throws,
// all of them throw, with the number of the lowest one that does; then no counts are written.
// Counts of 32 bits are added modulo 2^32.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/histogram.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/mpi/sums.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tally::mpi {

namespace calls {

inline MPI_Comm communicator_of(MPI_Comm comm) { return comm; }
inline MPI_Comm communicator_of(const layout& l) { return l.communicator(); }

/// Numbers of this rank, in its executor's memory and on their way over the others.
class added_numbers {
 public:
  added_numbers(const executor& where, std::size_t size, type element)
      : kernels_(where, size * size_of(element)),
        host_(kernels_.bytes()),
        size_(size),
        element_(element) {}

  /// Where this rank's kernels write them.
  output_operand here() const { return {kernels_.get(), size_, 1, element_}; }
  /// Adds up those of all ranks, into the same place.
  void add(MPI_Comm comm) {
    copy_bytes(kernels_.where(), kernels_.get(), host_.data(), host_.size());
    check(MPI_Allreduce(MPI_IN_PLACE, host_.data(), count_of(size_),
                        element_ == type::int32 ? MPI_UINT32_T : MPI_UINT64_T, MPI_SUM, comm),
          "MPI_Allreduce");
    copy_bytes(kernels_.where(), host_.data(), kernels_.get(), host_.size());
  }
  /// Writes them to the caller's, or adds them there.
  void write(const output_operand& to, bool adds) const {
    transform(kernels_.where(),
              adds ? transform_arguments{elementwise::add, {}, {}, here(), to, to}
                   : transform_arguments{elementwise::copy, {}, {}, here(), {}, to});
  }

 private:
  buffer kernels_;
  std::vector<std::byte> host_;
  std::size_t size_;
  type element_;
};

/// Counts the samples of all ranks.
inline void count(MPI_Comm comm, const executor& where, const histogram_arguments& asked) {
  check_communicator(comm);
  const executor on = where.name() == "automatic" ? choose(asked.x, operand(asked.counts)) : where;
  const histogram_options& options = asked.options;
  std::optional<failure> failed;
  std::optional<added_numbers> counts, outside;
  attempt(failed, [&] {
    // No sample is added to what is there: that checks all but the samples.
    histogram_arguments none = asked;
    none.x.size = 0;
    none.options.add = true;
    histogram(on, none);

    histogram_arguments mine = asked;
    mine.counts = counts.emplace(on, asked.counts.size, asked.counts.element).here();
    mine.options.add = false;
    if (options.outside != nullptr) {
      const output_operand words = outside.emplace(on, 3 * options.channels, type::int64).here();
      mine.options.outside = static_cast<outside_counts*>(words.data);
    }
    histogram(on, mine);
  });
  agree(comm, failed);
  if (counts) {
    counts->add(comm);
    counts->write(asked.counts, options.add);
  }
  if (outside) {
    outside->add(comm);
    outside->write({options.outside, 3 * options.channels, 1, type::int64}, options.add);
  }
}

}  // namespace calls

/// counts_k = the number of keys of all ranks that are k, k = 0 ... counts' size - 1.
///
/// @param over    a communicator, or a layout.
/// @param where   this rank's executor.
/// @param keys    this rank's keys.
/// @param counts  as many on all ranks; with `options.add` each rank adds all ranks' counts to what
///                it has there.
/// @param options as for `tally::bincount`; `outside` counts the samples of all ranks.
/// @throws error  as `tally::bincount`, on all ranks.
template <ranks C, histograms::integers X, counts_output O>
void bincount(const C& over, const executor& where, const X& keys, O&& counts,
              const histogram_options& options = {}) {
  histogram_arguments a;
  a.what = binning::keys;
  a.x = histograms::as_numbers(keys);
  a.counts = histograms::as_counts(counts);
  a.options = options;
  a.unsigned_keys = histograms::unsigned_integers<X>;
  calls::count(calls::communicator_of(over), where, a);
}

/// The same of samples in bins of one width between two bounds, as `tally::histogram_even`.
template <ranks C, histograms::reals X, histograms::real L, histograms::real U, counts_output O>
void histogram_even(const C& over, const executor& where, const X& samples, L lower, U upper,
                    O&& counts, const histogram_options& options = {}) {
  histogram_arguments a;
  a.what = binning::even;
  a.x = as_operand(samples);
  a.lower = lower;
  a.upper = upper;
  a.counts = histograms::as_counts(counts);
  a.options = options;
  calls::count(calls::communicator_of(over), where, a);
}

/// The same of samples between given edges, as `tally::histogram_range`.
template <ranks C, histograms::reals X, histograms::edges E, counts_output O>
void histogram_range(const C& over, const executor& where, const X& samples, const E& edges,
                     O&& counts, const histogram_options& options = {}) {
  histogram_arguments a;
  a.what = binning::edges;
  a.x = as_operand(samples);
  a.edges = histograms::as_numbers(edges);
  a.counts = histograms::as_counts(counts);
  a.options = options;
  a.unsigned_edges = histograms::unsigned_integers<E>;
  calls::count(calls::communicator_of(over), where, a);
}

}  // namespace tally::mpi
