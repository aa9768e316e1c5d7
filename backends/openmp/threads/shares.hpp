// Sums on OpenMP threads. Each thread sums whole nodes of the order's tree, so the number of
// threads changes no bits. The caller's OpenMP settings stay.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/openmp/threads/threads.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::backends::openmp {

/// At most this many parts per thread, nodes of 2^k chunks each: no thread has more than 1/16 above
/// the mean.
inline constexpr std::size_t parts_per_thread = 32;

struct part_shape {
  std::size_t size;  ///< elements of each part but the last
  std::size_t count;
};

inline part_shape shares_of(std::size_t size, int threads) {
  const std::size_t max_parts = parts_per_thread * static_cast<std::size_t>(threads);
  std::size_t share = order::chunk;
  while (size / share > max_parts) share *= 2;
  return {share, (size + share - 1) / share};
}

/// Returns the number of threads worth starting for as much work as `products` products of doubles
/// (tuning/short_calls.md: threads_that_pay).
inline int threads_that_pay(std::size_t products, int threads) {
  constexpr std::size_t products_per_thread = 8192;
  if (products <= 2 * products_per_thread) return 1;
  return static_cast<int>(
      std::min(products / products_per_thread, static_cast<std::size_t>(threads)));
}

/// The same for a sum or search over one vector: doubles take half as long as products, floats a
/// quarter.
inline int threads_that_pay(const operand& x, int threads) {
  const bool is_read = x.element == type::float32 || x.element == type::float64;
  const std::size_t parts_of_product = is_read ? 2 * sizeof(double) / size_of(x.element) : 1;
  return threads_that_pay(x.size / parts_of_product, threads);
}

/// Parts of a thread: adjacent, or round-robin where the first take longer.
enum class dealing { adjacent, in_turn };

/// Calls f(i, first, n) for each part, on at most `threads` threads; one needs no parallel region.
/// f must not throw.
template <class F>
void for_each_share(std::size_t size, int threads, const part_shape& shape, const F& f,
                    dealing dealt = dealing::adjacent) {
  const std::size_t needed = std::min(shape.count, static_cast<std::size_t>(threads));
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

/// Returns an upper bound of the number of parts for up to `size` terms.
inline std::size_t max_shares(std::size_t size, int threads) {
  return std::min(size / order::chunk, parts_per_thread * static_cast<std::size_t>(threads)) + 1;
}

/// Returns the sum of `size` terms. `node(first, n)` returns the sum of n terms, a node or all.
/// `sums`: buffer, not reallocated if its capacity is `max_shares`.
template <class Sum, class Node>
Sum sum_of_parts(std::size_t size, int threads, std::vector<Sum>& sums, const Node& node,
                 dealing dealt = dealing::adjacent) {
  if (size == 0) return Sum{};
  const part_shape shape = shares_of(size, threads);
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
Sum sum_of_parts(std::size_t size, int threads, const Node& node) {
  std::vector<Sum> sums;
  return sum_of_parts(size, threads, sums, node);
}

}  // namespace tally::backends::openmp
