// The balanced tree of the order contract, built as its leaves arrive.
#pragma once

#include <tally/operands/types.hpp>

#include <cstddef>

namespace tally::order {

/// a + b
struct add {
  /// The sum of two nodes.
  template <class Sum>
  TALLY_HOST_DEVICE Sum operator()(const Sum& a, const Sum& b) const {
    return a + b;
  }
};

// Silences nvcc's warning about a host-only `Combine`.
#if defined(__CUDACC__)
#define TALLY_ANY_COMBINE _Pragma("nv_exec_check_disable")
#else
#define TALLY_ANY_COMBINE
#endif

/// Combines leaves in the order's tree: pairs (2j, 2j+1), an odd last one passing up unchanged. A
/// binary counter: after m leaves, one node per set bit of m.
template <class Sum, class Combine = add, std::size_t levels = 64>
class tree {
 public:
  tree() = default;
  /// A tree with the caller's combination of two nodes, the earlier one first.
  TALLY_HOST_DEVICE explicit tree(const Combine& combine) : combine_(combine) {}

  /// The next leaf, or a node of the next `leaves`, a power of two that divides the number before.
  TALLY_ANY_COMBINE
  TALLY_HOST_DEVICE void add(Sum node, std::size_t leaves = 1) {
    for (std::size_t bit = leaves; count_ & bit; bit <<= 1) node = combine_(nodes_[--held_], node);
    nodes_[held_++] = node;
    count_ += leaves;
  }

  /// The root; a value-initialised `Sum` if empty.
  TALLY_ANY_COMBINE
  TALLY_HOST_DEVICE Sum total() const {
    if (held_ == 0) return Sum{};
    Sum sum = nodes_[held_ - 1];
    for (std::size_t i = held_ - 1; i-- > 0;) sum = combine_(nodes_[i], sum);
    return sum;
  }

 private:
  Sum nodes_[levels];  // one per bit of the count; the first `held_` are set
  std::size_t count_ = 0;
  std::size_t held_ = 0;
  // No [[no_unique_address]]: with it, nvcc 13.0 strides arrays of trees by twice their size.
  Combine combine_{};
};

#undef TALLY_ANY_COMBINE

}  // namespace tally::order
