// A sum shared out over OpenMP's threads: each sums whole nodes of the order's tree, so their
// number decides nothing but the time. The caller's OpenMP settings are left as they are.
#pragma once

#include "backends/backend.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/openmp/threads.hpp"
#include "backends/tree.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::backends::openmp {

inline int threads_of(const executor& where) {
  return where.threads() > 0 ? where.threads() : default_threads();
}

/// Shares are nodes of the tree: aligned groups of 2^k chunks, and at most this many for each
/// thread. That leaves no thread more than 1/16 above the mean, however many there are, and from
/// 2^18 elements a thread up each share is long enough for the kernel's two streams.
inline constexpr std::size_t shares_per_thread = 32;

/// The sum of `size` terms, where `node(first, n)` is that of the n from `first` on, a node.
template <class Sum, class Node>
Sum sum_of_shares(std::size_t size, int threads, const Node& node) {
  const std::size_t most = shares_per_thread * static_cast<std::size_t>(threads);
  std::size_t share = order::chunk;
  while (size / share > most) share *= 2;
  const std::size_t shares = (size + share - 1) / share;

  std::vector<Sum> sums(shares);
#pragma omp parallel num_threads(threads)
  {
    const default_environment environment;
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < shares; ++i) {
      const std::size_t first = i * share;
      sums[i] = node(first, std::min(share, size - first));
    }
  }

  tree<Sum> nodes;
  for (const Sum& sum : sums) nodes.add(sum);
  return nodes.total();
}

}  // namespace tally::backends::openmp
