// Cuts of a vector over ranks.
#pragma once

#include <tally/distributed/transport.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace data {

inline constexpr int all_cuts = 10;

inline std::vector<int> cuts(bool few) {
  if (few) return {0, 1, 4, 8};
  return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
}

/// Returns the number of a rank's elements.
inline std::int64_t size_of_cut(std::int64_t n, int cut, int rank, int ranks) {
  std::vector<std::int64_t> borders = {0, n};
  std::mt19937_64 random(static_cast<std::uint64_t>(n) * 97 + static_cast<std::uint64_t>(cut));
  for (std::int64_t r = 1; r < ranks; ++r) {
    const auto at_random =
        static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(n) + 1));
    const std::int64_t choices[all_cuts] = {
        n * r / ranks,
        tally::distributed::intervals::cut(n, static_cast<int>(r), ranks),
        0,                                 // everything on the last rank
        n,                                 // everything on the first one
        std::min<std::int64_t>(n, 7 * r),  // a chunk over many ranks
        n * r * r / ranks / ranks,
        std::min<std::int64_t>(n, 1025 * r),  // one element more than a chunk
        at_random,
        at_random,                          // from another seed
        std::max<std::int64_t>(0, n - 3)};  // nearly nothing on the last one
    borders.push_back(choices[cut]);
  }
  std::sort(borders.begin(), borders.end());
  const auto own = static_cast<std::size_t>(rank);
  return borders[own + 1] - borders[own];
}

}  // namespace data
