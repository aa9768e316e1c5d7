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

/// Returns how many threads pay for sums that take as long as those of so many products of doubles:
/// one for every 8192, from more than 16384 on. A region takes 1 us on two Zen 4 cores and 2 to 3
/// on 8 threads of a Xeon: dot products of 16384 and 65536 doubles take 2.3 and 9.0 us on one of
/// these and 3.1 on two and 5.2 on 8. On 16 threads that are still awake 16 vectors of 10^4 doubles
/// against one take 6.5 us, on 4 threads 9.8 and on one 28.8; of 1000 2.7 and on one 2.3.
inline int threads_that_pay(std::size_t products, int threads) {
  constexpr std::size_t of_a_thread = 8192;
  if (products <= 2 * of_a_thread) return 1;
  return static_cast<int>(std::min(products / of_a_thread, static_cast<std::size_t>(threads)));
}

/// Returns how many threads pay for a sum or a search over one vector. One of doubles takes half as
/// long as products, and one of floats a quarter: 10^4 doubles are summed in 0.71 us on one Zen 4
/// core, in 1.25 on two. What is converted takes longer.
inline int threads_that_pay(const operand& x, int threads) {
  const bool is_read = x.element == type::float32 || x.element == type::float64;
  const std::size_t parts_of_product = is_read ? 2 * sizeof(double) / size_of(x.element) : 1;
  return threads_that_pay(x.size / parts_of_product, threads);
}

/// A thread's shares are adjacent, or they are dealt out in turn where the first ones take longer.
enum class dealing { adjacent, in_turn };

/// Calls f(i, first, n) for each share, on at most so many threads; where one is enough there is no
/// region of OpenMP's. f must not throw.
template <class F>
void for_each_share(std::size_t size, int threads, const share_shape& shape, const F& f,
                    dealing dealt = dealing::adjacent) {
  const auto most = static_cast<std::size_t>(threads);
  const std::size_t needed = std::min(shape.count, most);
  const auto call = [&](std::size_t i) {
    const std::size_t first = i * shape.size;
    f(i, first, std::min(shape.size, size - first));
  };
  if (needed <= 1) {
    for (std::size_t i = 0; i < shape.count; ++i) call(i);
    return;
  }
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
/// which are a node, or all of them. `sums` is room for the shares' sums; where `most_shares` are
/// reserved in it, nothing is allocated.
template <class Sum, class Node>
Sum sum_of_shares(std::size_t size, int threads, std::vector<Sum>& sums, const Node& node,
                  dealing dealt = dealing::adjacent) {
  if (size == 0) return Sum{};
  const share_shape shape = shares_of(size, threads);
  if (threads == 1 || shape.count == 1) return node(0, size);
  sums.assign(shape.count, Sum{});
  for_each_share(
      size, threads, shape,
      [&](std::size_t i, std::size_t first, std::size_t n) { sums[i] = node(first, n); }, dealt);

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
