// Several dot products on OpenMP threads, which partition the pairs, or, if these are few or long,
// the terms.

#include "backends/simd/sums/multi_dot.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/openmp/openmp.hpp"
#include "backends/openmp/threads/shares.hpp"

namespace tally::backends::openmp {
namespace {

using simd::side_by_side;

/// Whether pairs are equally long; else the first terms belong to more pairs than the last.
bool is_even(const dot_pairs& pairs, std::size_t first, std::size_t count) {
  if (pairs.list.empty()) return true;
  const auto some = pairs.list.subspan(first, count);
  return std::ranges::all_of(
      some, [&](const operand_pair& pair) { return pair.x.size == some.front().x.size; });
}

/// Whole pairs per thread, adjacent if they are equally long.
void partition_pairs(const executor& where, const multi_sum& a, std::size_t threads) {
  const std::size_t pairs = a.pairs.size();
  std::size_t share =
      is_even(a.pairs, 0, pairs)
          ? (pairs + threads - 1) / threads
          : std::clamp<std::size_t>(pairs / (parts_per_thread * threads), 1, side_by_side);
  const std::size_t together = simd::pairs_together(a);
  if (share > together) share = (share + together - 1) / together * together;
  const std::size_t shares = (pairs + share - 1) / share;
  if (shares == 1 || threads == 1) return simd::write_dots(where, a, 0, pairs);
#pragma omp parallel num_threads(static_cast<int>(std::min(threads, shares)))
  {
    const default_environment environment;
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < shares; ++i) {
      const std::size_t first = i * share;
      simd::write_dots(where, a, first, std::min(share, pairs - first));
    }
  }
}

std::size_t products_of(const dot_pairs& pairs) {
  if (pairs.list.empty()) return pairs.x.rows * pairs.x.first.size;
  std::size_t all = 0;
  for (const operand_pair& pair : pairs.list) all += pair.x.size;
  return all;
}

/// Partitions the terms of all pairs, `side_by_side` pairs at a time.
template <class A>
void share_terms(const executor& where, const multi_sum& a, std::size_t longest, int threads) {
  std::vector<simd::multi_dot_sum<A>> of_shares;
  of_shares.reserve(max_shares(longest, threads));  // before the first result is written
  for (std::size_t first = 0; first < a.pairs.size(); first += side_by_side) {
    const std::size_t count = std::min(side_by_side, a.pairs.size() - first);
    const auto sums = sum_of_parts(
        simd::longest(a.pairs, first, count), threads, of_shares,
        [&](std::size_t begin, std::size_t n) {
          return simd::sum_side_by_side<A>(where, a, first, count, begin, n);
        },
        is_even(a.pairs, first, count) ? dealing::adjacent : dealing::in_turn);
    std::array<A, side_by_side> results;
    for (std::size_t j = 0; j < count; ++j) results[j] = finish(sums.of[j], a.conjugated);
    simd::write_results<A>(a, first, count, results.data());
  }
}

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  // Exact sums use all threads: they take longer.
  const int threads =
      is_exact(a) ? threads_of(where) : threads_that_pay(products_of(a.pairs), threads_of(where));
  const auto many = static_cast<std::size_t>(threads);
  const std::size_t longest = simd::longest(a.pairs, 0, a.pairs.size());
  // Threads with pairs of their own each read common vectors, from memory if long; with few pairs
  // some wait.
  if (a.pairs.size() >= 4 * many && longest <= 32 * order::chunk * many) {
    return partition_pairs(where, a, many);
  }
  if (is_exact(a)) return multi_dot_in_turn(where, a);
  with_type<accumulator_types>(a.results.element,
                               [&]<class A>() { share_terms<A>(where, a, longest, threads); });
}

}  // namespace tally::backends::openmp
