// Histograms over ranks: counts, or sums of weights, of the samples of all ranks, on every rank.
//
// Functions, bins and errors: <tally/histogram.hpp>. The partition does not matter: counts are
// integers (32-bit ones modulo 2^32), sums are exact until rounded once.
//
// Communication: one MPI_Allreduce of the counts, or of exact sums: 137 words of 8 bytes a bin, 23
// for `float` weights unless added to doubles.
//
// Collective and blocking. Bins, channels and types agree on all ranks; samples, possibly none, and
// executors are each rank's own. An error of any rank is thrown on all, with the lowest failing
// rank, and nothing is written.
#pragma once

#include <tally/buffer.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/histogram.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/mpi/sums.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace tally::mpi {

namespace calls {

inline MPI_Comm communicator_of(MPI_Comm comm) { return comm; }
inline MPI_Comm communicator_of(const layout& l) { return l.communicator(); }

/// Integers in the executor's memory, with a host copy for the reduction.
class added_numbers {
 public:
  added_numbers(const executor& where, std::size_t size, type element)
      : kernels_(where, size * size_of(element)),
        host_(kernels_.bytes()),
        size_(size),
        element_(element) {}

  output_operand here() const { return {kernels_.get(), size_, 1, element_}; }
  /// Before the ranks agree on errors.
  void fetch() {
    count_of(size_);
    copy_bytes(kernels_.where(), kernels_.get(), host_.data(), host_.size());
  }
  void add(MPI_Comm comm) {
    check(MPI_Allreduce(MPI_IN_PLACE, host_.data(), count_of(size_),
                        element_ == type::int32 ? MPI_UINT32_T : MPI_UINT64_T, MPI_SUM, comm),
          "MPI_Allreduce");
    copy_bytes(kernels_.where(), host_.data(), kernels_.get(), host_.size());
  }
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

inline void count(MPI_Comm comm, const executor& where, const histogram_arguments& asked) {
  check_communicator(comm);
  const executor on = where.name() == "automatic" ? choose(asked.x, operand(asked.counts)) : where;
  const histogram_options& options = asked.options;
  std::optional<failure> failed;
  std::optional<added_numbers> counts, outside;
  attempt(failed, [&] {
    // Adding no samples checks every argument but the samples.
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
    counts->fetch();
    if (outside) outside->fetch();
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

/// If `adds`, the previous value is one more weight.
template <float_or_double T, float_or_double C>
void round_sums(const std::int64_t* words, std::span<C> sums, bool adds) {
  for (std::size_t k = 0; k < sums.size(); ++k, words += exact_sum<T>::words) {
    exact_sum<T> sum = exact_sum<T>::from_words(words);
    if constexpr (sizeof(C) <= sizeof(T)) {
      if (adds) sum.add(sums[k]);
    }
    sums[k] = sum.template round<C>();
  }
}

template <float_or_double C>
void add_weights(MPI_Comm comm, const executor& where, const histogram_arguments& asked) {
  check_communicator(comm);
  const executor on = where.name() == "automatic" ? choose(asked.x, operand(asked.counts)) : where;
  const histogram_options& options = asked.options;
  // exact sums of floats cannot hold a previous double
  const bool is_wide =
      asked.weights.element == type::float64 || (options.add && std::same_as<C, double>);
  const type sum = is_wide ? type::float64 : type::float32;
  std::vector<std::int64_t> words;
  std::vector<C> sums;
  std::optional<added_numbers> outside;
  std::optional<failure> failed;
  attempt(failed, [&] {
    // Adding no counts checks the destination.
    histogram_arguments none = asked;
    none.weighted = false;
    none.counts.element = std::same_as<C, float> ? type::int32 : type::int64;
    none.x.size = 0;
    none.options.add = true;
    histogram(on, none);

    sums.resize(asked.counts.size);
    if (options.add) {
      copy_bytes(on, asked.counts.data, sums.data(), sums.size() * sizeof(C));
    }
    words.resize(sums.size() * exact_words(sum));
    count_of(words.size());
    histogram_arguments mine = asked;
    mine.words = true;
    mine.counts = {words.data(), sums.size(), 1, sum};
    mine.options.add = false;
    if (options.outside != nullptr) {
      const output_operand here = outside.emplace(on, 3 * options.channels, type::int64).here();
      mine.options.outside = static_cast<outside_counts*>(here.data);
    }
    histogram_to_host(on, mine);
    if (outside) outside->fetch();
  });
  agree(comm, failed);
  check(MPI_Allreduce(MPI_IN_PLACE, words.data(), count_of(words.size()), MPI_UINT64_T, MPI_SUM,
                      comm),
        "MPI_Allreduce");
  if (is_wide) {
    round_sums<double, C>(words.data(), sums, options.add);
  } else {
    round_sums<float, C>(words.data(), sums, options.add);
  }
  copy_bytes(on, sums.data(), asked.counts.data, sums.size() * sizeof(C));
  if (outside) {
    outside->add(comm);
    outside->write({options.outside, 3 * options.channels, 1, type::int64}, options.add);
  }
}

}  // namespace calls

/// counts_k = number of keys equal to k on all ranks, k = 0 ... size of counts - 1.
///
/// @param over    a communicator or a layout.
/// @param where, keys  this rank's executor and keys.
/// @param counts  of one size on all ranks; with `options.add` each rank adds to its own.
/// @param options as for `tally::bincount`; `outside` counts over all ranks.
/// @throws error  as `tally::bincount`, on all ranks.
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

/// Counts between given edges, as `tally::histogram_range`.
template <ranks C, histograms::reals X, histograms::edges E, counts_output O>
void histogram_range(const C& over, const executor& where, const X& samples, const E& edges,
                     O&& counts, const histogram_options& options = {}) {
  calls::count(calls::communicator_of(over), where,
               histograms::counted(histograms::of_edges(samples, edges, options), counts));
}

/// sums_k = sum of the weights of key k on all ranks, correctly rounded. Otherwise as above.
///
/// @param weights one per key; `double`, or `float` on all ranks.
/// @param sums    of one size on all ranks; with `options.add` a rank's previous value is one more
///                weight.
template <ranks C, histograms::integers X, histograms::weights W, histograms::sums O>
void bincount(const C& over, const executor& where, const X& keys, const W& weights, O&& sums,
              const histogram_options& options = {}) {
  calls::add_weights<element_t<std::remove_cvref_t<O>>>(
      calls::communicator_of(over), where,
      histograms::weighted(histograms::of_keys(keys, options), weights, sums));
}

/// Sums of weights in bins of equal width, as `tally::histogram_even`.
template <ranks C, histograms::reals X, histograms::weights W, histograms::real L,
          histograms::real U, histograms::sums O>
void histogram_even(const C& over, const executor& where, const X& samples, const W& weights,
                    L lower, U upper, O&& sums, const histogram_options& options = {}) {
  calls::add_weights<element_t<std::remove_cvref_t<O>>>(
      calls::communicator_of(over), where,
      histograms::weighted(histograms::of_even(samples, lower, upper, options), weights, sums));
}

/// Sums of weights between given edges, as `tally::histogram_range`.
template <ranks C, histograms::reals X, histograms::weights W, histograms::edges E,
          histograms::sums O>
void histogram_range(const C& over, const executor& where, const X& samples, const W& weights,
                     const E& edges, O&& sums, const histogram_options& options = {}) {
  calls::add_weights<element_t<std::remove_cvref_t<O>>>(
      calls::communicator_of(over), where,
      histograms::weighted(histograms::of_edges(samples, edges, options), weights, sums));
}

}  // namespace tally::mpi
