// An update with a sum, tile by tile, so that the sum reads from the first-level cache what the
// update wrote. A tile is a node of the order's tree.
#pragma once

#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/sums/reduce.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operations/fused.hpp>

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
    node(part, computation, false);
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

}  // namespace tally::backends::simd
