// An interval of chunks as nodes of the order's tree: the largest within it, in order. Sizes rise,
// then fall; no two neighbours are siblings.
#pragma once

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tally::backends {

/// Node over chunks [first, first + chunks); `chunks` is a power of two that divides `first`.
struct interval_node {
  std::int64_t first = 0;
  std::int64_t chunks = 1;

  std::int64_t last() const { return first + chunks; }
};

template <class F>
void for_each_node(std::int64_t first, std::int64_t last, const F& f) {
  while (first < last) {
    const auto fits = std::bit_floor(static_cast<std::uint64_t>(last - first));
    const auto aligned =
        static_cast<std::uint64_t>(first) & (0 - static_cast<std::uint64_t>(first));
    const auto chunks = static_cast<std::int64_t>(first == 0 ? fits : std::min(fits, aligned));
    f(interval_node{first, chunks});
    first += chunks;
  }
}

/// Number of nodes of chunks [first, last).
inline std::int64_t count_nodes(std::int64_t first, std::int64_t last) {
  if (first >= last) return 0;
  // Nodes rise up to `last` without the bits below the highest that differs from `first`. On either
  // side of that point the 1 bits of the distance are the nodes.
  const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(last);
  const std::uint64_t highest = std::bit_floor(a ^ b), below = highest - 1;
  return std::popcount(highest - (a & below)) + std::popcount(b & below);
}

/// Maximum number of nodes of an interval.
constexpr std::int64_t max_nodes(std::int64_t chunks) {
  if (chunks <= 0) return 0;
  const int highest_bit = 63 - std::countl_zero(static_cast<std::uint64_t>(chunks - 1));
  return std::max(1, 2 * highest_bit);
}

constexpr std::int64_t count_chunks(std::int64_t elements) {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  return elements / chunk + (elements % chunk != 0);
}

}  // namespace tally::backends
