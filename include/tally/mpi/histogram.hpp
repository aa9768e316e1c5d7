// Histograms over ranks, with weights, too.
//
// Functions, bins and errors: <tally/operations/histogram.hpp>. The partition does not matter:
// counts are integers, sums exact until rounded once.
//
// Communication: one MPI_Allreduce of the counts, or of exact sums: 137 words of 8 bytes a bin, 23
// for `float` weights unless added to doubles.
//
// Collective and blocking. Bins, channels and types agree on all ranks; samples, possibly none, and
// executors are each rank's own. An error of any rank is thrown on all, with the lowest failing
// rank, and nothing is written.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/histogram.hpp>
#include <tally/mpi/sums.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::mpi {

using distributed::bincount;
using distributed::histogram_even;
using distributed::histogram_range;

namespace detail {

/// Integers in the executor's memory, added in host memory.
template <class C>
class counting {
 public:
  counting(const C& over, const executor& where, const histogram_arguments& asked)
      : comm_(communicator_of(over)),
        where_(where.name() == "automatic" ? choose(asked.x, operand(asked.counts)) : where) {
    check_communicator(comm_);
    all_.reserve(2);
  }

  const executor& where() const noexcept { return where_; }

  output_operand make(std::size_t size, type element) {
    const std::size_t bytes = static_cast<std::size_t>(count_of(size)) * size_of(element);
    numbers& made = all_.emplace_back(numbers{{where_, bytes}, std::vector<std::byte>(bytes), {}});
    return made.kernels = {made.memory.get(), size, 1, element};
  }

  void add(std::optional<failure>& failed) {
    attempt(failed, [&] {
      for (numbers& n : all_) copy_bytes(where_, n.memory.get(), n.host.data(), n.host.size());
    });
    agree(comm_, failed);
    for (numbers& n : all_) {
      check(MPI_Allreduce(MPI_IN_PLACE, n.host.data(), count_of(n.kernels.size),
                          n.kernels.element == type::int32 ? MPI_UINT32_T : MPI_UINT64_T, MPI_SUM,
                          comm_),
            "MPI_Allreduce");
      copy_bytes(where_, n.host.data(), n.memory.get(), n.host.size());
    }
  }

  /// Adds numbers in host memory.
  void add(std::vector<std::int64_t>& words) const {
    check(MPI_Allreduce(MPI_IN_PLACE, words.data(), count_of(words.size()), MPI_UINT64_T, MPI_SUM,
                        comm_),
          "MPI_Allreduce");
  }

 private:
  struct numbers {
    buffer memory;
    std::vector<std::byte> host;
    output_operand kernels;
  };

  MPI_Comm comm_;
  executor where_;
  std::vector<numbers> all_;
};

/// If `adds`, the previous value is one more weight; if `keeps`, a sum of 0 leaves it as it is.
template <float_or_double T, float_or_double C>
void round_sums(const std::int64_t* words, std::span<C> sums, bool adds, bool keeps) {
  for (std::size_t k = 0; k < sums.size(); ++k, words += exact_sum<T>::words) {
    exact_sum<T> sum = exact_sum<T>::from_words(words);
    if (keeps && sum.template round<T>() == 0) continue;
    if constexpr (sizeof(C) <= sizeof(T)) {
      if (adds) sum.add(sums[k]);
    }
    sums[k] = sum.template round<C>();
  }
}

template <float_or_double S, class C>
void add_weights(const C& over, const executor& where, histogram_arguments asked) {
  counting<C> ranks(over, where, asked);
  const histogram_options& options = asked.options;
  const bool keeps = std::exchange(asked.scatters, false);
  // exact sums of floats cannot hold a previous double
  const bool is_wide =
      asked.weights.element == type::float64 || (options.add && std::same_as<S, double>);
  const type sum = is_wide ? type::float64 : type::float32;
  std::vector<std::int64_t> words;
  std::vector<S> sums;
  output_operand outside;
  std::optional<failure> failed;
  attempt(failed, [&] {
    if (keeps) {  // samples out of range are counted and forgotten
      asked.options.outside = static_cast<outside_counts*>(ranks.make(3, type::int64).data);
    }
    histogram_arguments none = asked;  // counts, to check the destination
    none.weighted = false;
    none.counts.element = std::same_as<S, float> ? type::int32 : type::int64;
    check_but_samples(ranks.where(), none);

    sums.resize(asked.counts.size);
    if (options.add) {
      copy_bytes(ranks.where(), asked.counts.data, sums.data(), sums.size() * sizeof(S));
    }
    words.resize(sums.size() * exact_words(sum));
    count_of(words.size());
    histogram_arguments mine = asked;
    mine.words = true;
    mine.counts = {words.data(), sums.size(), 1, sum};
    mine.options.add = false;
    outside = redirect_outside(ranks, mine.options);
    histogram_to_host(ranks.where(), mine);
  });
  ranks.add(failed);
  ranks.add(words);
  if (is_wide) {
    round_sums<double, S>(words.data(), sums, options.add, keeps);
  } else {
    round_sums<float, S>(words.data(), sums, options.add, keeps);
  }
  copy_bytes(ranks.where(), sums.data(), asked.counts.data, sums.size() * sizeof(S));
  write_outside(ranks.where(), outside, options);
}

}  // namespace detail

/// sums_k = sum of the weights of key k on all ranks, correctly rounded. Otherwise as above.
///
/// @param weights one per key; `double`, or `float` on all ranks.
/// @param sums    of one size on all ranks; with `options.add` a rank's previous value is one more
///                weight.
template <ranks C, detail::key_operand X, detail::weight_operand W, detail::weight_output O>
void bincount(const C& over, const executor& where, const X& keys, const W& weights, O&& sums,
              const histogram_options& options = {}) {
  detail::add_weights<element_t<std::remove_cvref_t<O>>>(
      over, where, detail::weighted(detail::of_keys(keys, options), weights, sums));
}

/// Sums of weights in bins of equal width, as `tally::histogram_even`.
template <ranks C, detail::sample_operand X, detail::weight_operand W, detail::real_number L,
          detail::real_number U, detail::weight_output O>
void histogram_even(const C& over, const executor& where, const X& samples, const W& weights,
                    L lower, U upper, O&& sums, const histogram_options& options = {}) {
  detail::add_weights<element_t<std::remove_cvref_t<O>>>(
      over, where,
      detail::weighted(detail::of_even(samples, lower, upper, options), weights, sums));
}

/// Sums of weights between given edges, as `tally::histogram_range`.
template <ranks C, detail::sample_operand X, detail::weight_operand W, detail::edge_operand E,
          detail::weight_output O>
void histogram_range(const C& over, const executor& where, const X& samples, const W& weights,
                     const E& edges, O&& sums, const histogram_options& options = {}) {
  detail::add_weights<element_t<std::remove_cvref_t<O>>>(
      over, where, detail::weighted(detail::of_edges(samples, edges, options), weights, sums));
}

}  // namespace tally::mpi
