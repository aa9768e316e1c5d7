// Partition of a vector into intervals of ranks.
#pragma once

#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// Distributed vectors and matrices, independent of the transport.
namespace tally::distributed {

/// First element of each rank, then the total.
class borders {
 public:
  borders() = default;
  /// @param sizes the elements of each rank.
  explicit borders(const std::vector<std::int64_t>& sizes) : first_(sizes.size() + 1, 0) {
    std::partial_sum(sizes.begin(), sizes.end(), first_.begin() + 1);
  }

  std::int64_t first(int rank) const noexcept { return first_[static_cast<std::size_t>(rank)]; }
  /// One past the last element.
  std::int64_t last(int rank) const noexcept { return first(rank + 1); }
  std::int64_t size(int rank) const noexcept { return last(rank) - first(rank); }
  std::int64_t total() const noexcept { return first_.back(); }
  /// The rank that owns element i, 0 <= i < total.
  int owner(std::int64_t i) const noexcept {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, i) -
                            first_.begin()) -
           1;
  }

 private:
  std::vector<std::int64_t> first_ = {0};
};

/// Returns the first element of a rank in a partition of `total` elements into nearly equal parts
/// at multiples of `order::chunk`: no chunk is cut, so sums in the default grade take one message.
/// `cut(total, ranks, ranks)` is the total.
constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  const std::int64_t chunks = total / chunk + (total % chunk != 0);
  const std::int64_t before = chunks / ranks * rank + std::min<std::int64_t>(rank, chunks % ranks);
  return (std::min)(total, before * chunk);
}

}  // namespace tally::distributed
