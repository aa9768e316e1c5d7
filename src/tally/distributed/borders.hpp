// How the elements of a vector are numbered over ranks: each has an interval of them.
#pragma once

#include <tally/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// What distributed vectors and matrices are, whatever carries their messages.
namespace tally::distributed {

/// Where the intervals of ranks begin, in order of the ranks, and the total behind them. It takes 8
/// bytes a rank.
class borders {
 public:
  borders() = default;
  /// @param sizes the elements of each rank.
  explicit borders(const std::vector<std::int64_t>& sizes) : first_(sizes.size() + 1, 0) {
    std::partial_sum(sizes.begin(), sizes.end(), first_.begin() + 1);
  }

  /// The number of a rank's first element.
  std::int64_t first(int rank) const noexcept { return first_[static_cast<std::size_t>(rank)]; }
  /// The number behind that of its last one.
  std::int64_t last(int rank) const noexcept { return first(rank + 1); }
  /// How many it has.
  std::int64_t size(int rank) const noexcept { return last(rank) - first(rank); }
  /// How many all ranks have.
  std::int64_t total() const noexcept { return first_.back(); }
  /// The rank that has element i, which is one of [0, total).
  int owner(std::int64_t i) const noexcept {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, i) -
                            first_.begin()) -
           1;
  }

 private:
  std::vector<std::int64_t> first_ = {0};
};

/// The first element of a rank where `total` elements are cut into equal parts, as nearly as that
/// goes with borders that are multiples of `order::chunk`.
constexpr std::int64_t cut(std::int64_t total, int rank, int ranks) noexcept {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  const std::int64_t chunks = total / chunk + (total % chunk != 0);
  const std::int64_t before = chunks / ranks * rank + std::min<std::int64_t>(rank, chunks % ranks);
  return (std::min)(total, before * chunk);
}

}  // namespace tally::distributed
