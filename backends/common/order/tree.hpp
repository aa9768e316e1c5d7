// The order's tree for backends.
#pragma once

#include <tally/numerics/order_tree.hpp>

#include <bit>
#include <cstddef>

namespace tally::backends {

using order::tree;

// Not inlined, so that their temporaries are not on the stack once per level of the tree.
template <class Sum, class Leaf>
[[gnu::noinline]] void sum_leaf(std::size_t first, std::size_t n, const Leaf& leaf, Sum& sum) {
  sum = leaf(first, n);
}
template <class Sum>
[[gnu::noinline]] void add_right(const Sum& right, Sum& sum) {
  sum = sum + right;
}

/// The same tree by recursion, for sums too large for 64 on the stack. `leaf(first, n)` sums the n
/// <= `tile` terms from `first`.
template <class Sum, class Leaf>
void sum_in_tree(std::size_t first, std::size_t n, std::size_t tile, const Leaf& leaf, Sum& sum) {
  if (n <= tile) return sum_leaf(first, n, leaf, sum);
  const std::size_t left = std::bit_floor((n - 1) / tile) * tile;
  sum_in_tree(first, left, tile, leaf, sum);
  Sum right;
  sum_in_tree(first + left, n - left, tile, leaf, right);
  add_right(right, sum);
}

}  // namespace tally::backends
