// A sum shared out over OpenMP's threads: each sums whole nodes of the order's tree, so their
// number decides nothing but the time. The caller's OpenMP settings are left as they are.
#pragma once

#include "backends/openmp/threads.hpp"
#include "src/core/floating_point_environment.hpp"
#include "src/core/order/tree.hpp"
#include "src/core/table.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::backends::openmp {

/// Shares are nodes of the tree: aligned groups of 2^k chunks, and at most this many for each
/// thread. That leaves no thread more than 1/16 above the mean, however many there are, and from
/// 2^18 elements a thread up each share is long enough for the kernel's two streams.
inline constexpr std::size_t shares_per_thread = 32;

struct share_shape {
  std::size_t size;  ///< elements of each but the last
  std::size_t count;
};

inline share_shape shares_of(std::size_t size, int threads) {
  const std::size_t most = shares_per_thread * static_cast<std::size_t>(threads);
  std::size_t share = order::chunk;
  while (size / share > most) share *= 2;
  return {share, (size + share - 1) / share};
}

/// Calls f(i, first, n), which must not throw, for each share, on at most so many threads.
template <class F>
void for_each_share(std::size_t size, int threads, const share_shape& shape, const F& f) {
  const auto most = static_cast<std::size_t>(threads);
  const std::size_t needed = std::clamp<std::size_t>(shape.count, 1, most);
#pragma omp parallel num_threads(static_cast<int>(needed))
  {
    const default_environment environment;
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < shape.count; ++i) {
      const std::size_t first = i * shape.size;
      f(i, first, std::min(shape.size, size - first));
    }
  }
}

/// No fewer than `shares_of` has of `size` terms or less.
inline std::size_t most_shares(std::size_t size, int threads) {
  return std::min(size / order::chunk, shares_per_thread * static_cast<std::size_t>(threads)) + 1;
}

/// The sum of `size` terms, where `node(first, n)` is that of the n from `first` on, a node. `sums`
/// holds those of the shares; where `most_shares` are reserved, nothing is allocated.
template <class Sum, class Node>
Sum sum_of_shares(std::size_t size, int threads, std::vector<Sum>& sums, const Node& node) {
  const share_shape shape = shares_of(size, threads);
  sums.assign(shape.count, Sum{});
  for_each_share(size, threads, shape, [&](std::size_t i, std::size_t first, std::size_t n) {
    sums[i] = node(first, n);
  });

  if (sums.empty()) return Sum{};
  Sum all;
  sum_in_tree(0, sums.size(), 1, [&](std::size_t i, std::size_t) { return sums[i]; }, all);
  return all;
}
template <class Sum, class Node>
Sum sum_of_shares(std::size_t size, int threads, const Node& node) {
  std::vector<Sum> sums;
  return sum_of_shares(size, threads, sums, node);
}

}  // namespace tally::backends::openmp
