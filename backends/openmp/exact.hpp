// The exact grade on OpenMP threads. Neither the partition nor the order of merging matters.
#pragma once

#include "backends/common/sparse/exact_rows.hpp"
#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/exact/exact.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>

namespace tally::backends::openmp {

/// Writes the sum of `node_of(a)` over shares of the terms; calls alone() if one thread has all.
template <class Node, class Alone>
void write_exact(const executor& where, const exact_arguments& a, const Node& node_of,
                 const Alone& alone) {
  // At least a chunk per thread: its own sum costs as much.
  const auto threads = static_cast<std::size_t>(threads_of(where));
  const std::size_t share = std::max(order::chunk, (a.x.size + threads - 1) / threads);
  const auto shares = static_cast<int>((a.x.size + share - 1) / share);
  if (shares <= 1) return alone();
  exact_node* const node = node_of(simd::set_for_exact(where, a));
  exact_sums total;
  std::mutex merging;  // an OpenMP critical section would export its name
#pragma omp parallel num_threads(shares)
  {
    const default_environment environment;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < shares; ++i) {
      const std::size_t first = static_cast<std::size_t>(i) * share;
      const std::size_t n = std::min(share, a.x.size - first);
      exact_sums sums;
      node(a.slice(first, n), sums);
      const std::lock_guard lock(merging);
      total.merge(sums);
    }
  }
  write_result(total, a);
}

}  // namespace tally::backends::openmp
