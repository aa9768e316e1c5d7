// A sum is shared out over OpenMP's threads. Each thread sums whole nodes of the order's tree, so
// the number of threads decides nothing but the time. The caller's OpenMP settings stay as they
// are.
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

/// Shares are nodes of the tree: aligned groups of 2^k chunks. Each thread has at most so many. So
/// no thread has more than 1/16 above the mean, however many threads there are, and from 2^18
/// elements a thread up each share is long enough for the kernel's two streams.
inline constexpr std::size_t shares_per_thread = 32;

struct share_shape {
  std::size_t size;  ///< each share but the last has so many elements
  std::size_t count;
};

inline share_shape shares_of(std::size_t size, int threads) {
  const std::size_t most = shares_per_thread * static_cast<std::size_t>(threads);
  std::size_t share = order::chunk;
  while (size / share > most) share *= 2;
  return {share, (size + share - 1) / share};
}

/// Returns how many threads so many products pay for: one for every 8192. On 16 threads of a Xeon
/// that are still awake, 16 vectors of 1000 doubles against one take 2.7 us and on one thread 2.3;
/// of 10^4 doubles 6.5 and 28.8, where 4 threads take 9.8; two vectors of 16000 take 5.3 and 3.0.
inline int threads_that_pay(std::size_t products, int threads) {
  return static_cast<int>(
      std::clamp<std::size_t>(products / 8192, 1, static_cast<std::size_t>(threads)));
}

/// A thread's shares are adjacent, or they are dealt out in turn where the first ones take longer.
enum class dealing { adjacent, in_turn };

/// Calls f(i, first, n) for each share, on at most so many threads. f must not throw.
template <class F>
void for_each_share(std::size_t size, int threads, const share_shape& shape, const F& f,
                    dealing dealt = dealing::adjacent) {
  const auto most = static_cast<std::size_t>(threads);
  const std::size_t needed = std::clamp<std::size_t>(shape.count, 1, most);
  const auto call = [&](std::size_t i) {
    const std::size_t first = i * shape.size;
    f(i, first, std::min(shape.size, size - first));
  };
#pragma omp parallel num_threads(static_cast<int>(needed))
  {
    const default_environment environment;
    if (dealt == dealing::adjacent) {
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < shape.count; ++i) call(i);
    } else {
#pragma omp for schedule(static, 1) nowait
      for (std::size_t i = 0; i < shape.count; ++i) call(i);
    }
  }
}

/// Returns a number of shares that is no smaller than what `shares_of` has for `size` terms or
/// fewer.
inline std::size_t most_shares(std::size_t size, int threads) {
  return std::min(size / order::chunk, shares_per_thread * static_cast<std::size_t>(threads)) + 1;
}

/// Returns the sum of `size` terms. `node(first, n)` is the sum of the n terms from `first` on,
/// which are a node. `sums` is room for the shares' sums; where `most_shares` are reserved in it,
/// nothing is allocated.
template <class Sum, class Node>
Sum sum_of_shares(std::size_t size, int threads, std::vector<Sum>& sums, const Node& node,
                  dealing dealt = dealing::adjacent) {
  const share_shape shape = shares_of(size, threads);
  sums.assign(shape.count, Sum{});
  for_each_share(
      size, threads, shape,
      [&](std::size_t i, std::size_t first, std::size_t n) { sums[i] = node(first, n); }, dealt);

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
