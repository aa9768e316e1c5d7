// Updates with sums, tile by tile, so that sums read from a cache what the update read and wrote. A
// tile is a node of the order's tree.
#pragma once

#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/sums/multi_dot.hpp"
#include "backends/simd/sums/reduce.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operations/fused.hpp>
#include <tally/operations/multi_axpy.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tally::backends::simd {

/// Elements per tile (tuning/elementwise.md: elements_of_tile).
inline constexpr std::size_t elements_of_tile = 2 * order::chunk;

struct update_node {
  transform_node* node;
  const transform_arguments& update;
  type computation;
  /// numbers per element: a complex one may be two
  std::size_t numbers;

  update_node(instruction_set set, const fused_update& a)
      : node(transform_node_of(set)),
        update(a.update),
        computation(a.computation),
        numbers(a.update.z.size / a.sum.x.size) {}

  void operator()(std::size_t first, std::size_t n) const {
    transform_arguments part = update;
    part.x = update.x.slice(first * numbers, n * numbers);
    if (detail::is_binary(update.what)) part.y = update.y.slice(first * numbers, n * numbers);
    part.z = update.z.slice(first * numbers, n * numbers);
    node(part, computation, {});
  }
};

/// Returns the sum of a node's n terms from `first` on. `update(i, k)` computes k elements from i
/// on; then `node(i, k)` sums their terms.
template <class Sum, class Update, class Node>
Sum sum_updated(std::size_t first, std::size_t n, const Update& update, const Node& node) {
  tree<Sum> tiles;
  for (std::size_t i = 0; i < n; i += elements_of_tile) {
    const std::size_t k = std::min(elements_of_tile, n - i);
    update(first + i, k);
    tiles.add(node(first + i, k));
  }
  return tiles.total();
}

/// `fused` on a host. `share(size, sums, node)` returns the sum of `size` terms from sums of nodes,
/// in the buffer `sums`. A second, scaled sum of nrm2 finds the elements updated.
template <class Share>
void fused_on_host(instruction_set set, const fused_update& u, const Share& share) {
  const update_node compute(set, u);
  if (u.what == fused_sum::dot) {
    const dot_arguments& a = u.sum;
    return with_type<accumulator_types>(a.result.element, [&]<class A>() {
      auto* const node = node_of<A>(set, a.x.element, a.y.element);
      std::vector<dot_sum<A>> sums;
      const auto sum = share(a.x.size, sums, [&](std::size_t first, std::size_t n) {
        return sum_updated<dot_sum<A>>(first, n, compute, [&](std::size_t i, std::size_t k) {
          return node(a.x.slice(i, k), a.y.slice(i, k));
        });
      });
      *static_cast<A*>(a.result.data) = finish(sum, a.conjugated);
    });
  }
  const reduce_arguments a = u.nrm2();
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    auto* const node = reduce_node_of<A>(set, a.what, a.x.element);
    std::vector<reduce_sum<A>> sums;  // kept for both passes, so that the second can't fail
    bool updated = false;
    reduce_on_host<A>(a, [&](real_t<A> scale) {
      const auto sum = share(a.x.size, sums, [&](std::size_t first, std::size_t n) {
        if (updated) return node(a.x.slice(first, n), scale);
        return sum_updated<reduce_sum<A>>(first, n, compute, [&](std::size_t i, std::size_t k) {
          return node(a.x.slice(i, k), scale);
        });
      });
      updated = true;
      return sum;
    });
  });
}

/// Returns the elements of a tile of several vectors, whose tiles fit a second-level cache together
/// (tuning/elementwise.md: bytes_of_tiles).
inline std::size_t elements_of_tiles(const multi_sum& a) {
  constexpr std::size_t bytes_of_tiles = std::size_t{1} << 20;
  const std::size_t bytes = a.pairs.size() * size_of(a.pairs[0].x.element);
  std::size_t tile = 4 * order::chunk;
  while (tile > order::chunk && tile * bytes > bytes_of_tiles) tile /= 2;
  return tile;
}

/// Whether tiles pay: not in the exact grade, nor one.
inline bool is_in_tiles(const multi_sum& a) {
  return !is_exact(a) && a.pairs[0].x.size > elements_of_tiles(a);
}

/// multi_axpy_dot on a host, in tiles. `for_each_tile(tiles, run_tile)` calls run_tile(i), which
/// does not throw, for each tile i.
template <class ForEach>
void multi_axpy_dot_on_host(const executor& where, const multi_axpy_arguments& update,
                            type computation, const multi_sum& a, const ForEach& for_each_tile) {
  const std::size_t n = a.pairs[0].x.size, k = a.pairs.size();
  const std::size_t numbers = update.y.size / n;  // per element: a complex one may be two
  const std::size_t tile = elements_of_tiles(a), tiles = (n + tile - 1) / tile;
  with_type<accumulator_types>(a.results.element, [&]<class A>() {
    std::vector<dot_sum<A>> sums(tiles * k);
    for_each_tile(tiles, [&](std::size_t i) {
      const std::size_t first = i * tile, some = std::min(tile, n - first);
      update_tiles(where, update, computation, first * numbers, some * numbers);
      for (std::size_t j = 0; j < k; j += side_by_side) {
        const std::size_t count = std::min(side_by_side, k - j);
        const auto node = sum_side_by_side<A>(where, a, j, count, first, some);
        std::copy_n(node.of.begin(), count, &sums[i * k + j]);
      }
    });
    for (std::size_t j = 0; j < k; ++j) {
      tree<dot_sum<A>> all;
      for (std::size_t i = 0; i < tiles; ++i) all.add(sums[i * k + j]);
      static_cast<A*>(a.results.data)[j] = finish(all.total(), a.conjugated);
    }
  });
}

}  // namespace tally::backends::simd
