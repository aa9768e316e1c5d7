// The backends build the order's tree with this header.
#pragma once

#include <tally/order_tree.hpp>

#include <bit>
#include <cstddef>

namespace tally::backends {

using order::tree;

/// Returns the sum of the same tree, where sums are so large that a stack can't hold 64 of them: it
/// holds as many as the tree is deep. `leaf(first, n)` returns the sum of the n <= `tile` terms
/// from `first` on.
template <class Sum, class Leaf>
void sum_in_tree(std::size_t first, std::size_t n, std::size_t tile, const Leaf& leaf, Sum& sum) {
  if (n <= tile) {
    sum = leaf(first, n);
    return;
  }
  const std::size_t left = std::bit_floor((n - 1) / tile) * tile;
  sum_in_tree(first, left, tile, leaf, sum);
  Sum right;
  sum_in_tree(first + left, n - left, tile, leaf, right);
  sum = sum + right;
}

}  // namespace tally::backends
