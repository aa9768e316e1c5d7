// The balanced tree of the order contract, built while its leaves arrive.
#pragma once

#include <array>
#include <cstddef>

namespace tally::backends {

/// Adds leaves in the order's tree: pairs (2j, 2j+1), an odd last one passing up unchanged. It is a
/// binary counter: after m leaves one node is held for every bit set in m.
template <class Sum>
class tree {
 public:
  void add(Sum node) {
    for (std::size_t bit = 1; count_ & bit; bit <<= 1) node = nodes_[--held_] + node;
    nodes_[held_++] = node;
    ++count_;
  }

  /// The sum of all leaves; +0 of none.
  Sum total() const {
    if (held_ == 0) return Sum{};
    Sum sum = nodes_[held_ - 1];
    for (std::size_t i = held_ - 1; i-- > 0;) sum = nodes_[i] + sum;
    return sum;
  }

 private:
  std::array<Sum, 64> nodes_;  // one a bit of the count; only the first `held_` are set
  std::size_t count_ = 0;
  std::size_t held_ = 0;
};

}  // namespace tally::backends
