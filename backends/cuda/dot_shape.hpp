// How a dot product is cut over warps, blocks and loops. Everything here is fixed by n and the types
// alone, and none of it can change a bit of the result: shares are nodes of the order's tree.
#pragma once

#include <tally/order.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Lanes of the order that a thread owns, for elements of these sizes: with two doubles or four
/// floats its loads are 16 bytes wide.
TALLY_HOST_DEVICE constexpr int lanes_a_thread(std::size_t x_size, std::size_t y_size) {
  return x_size >= 8 || y_size >= 8 ? 2 : 4;
}

/// A warp's share at a time, a node of the tree: the chunks that its 32 threads' lanes make up.
TALLY_HOST_DEVICE constexpr int chunks_a_warp(int lanes) { return 32 * lanes / static_cast<int>(order::lanes); }

inline constexpr unsigned max_warps = 8;  ///< of a block
inline constexpr unsigned max_tiles = 8;  ///< that a block gathers in shared memory before it adds them

/// Words (words.hpp) in which blocks hand over their sums; those of one grid fit.
inline constexpr unsigned workspace_words = 8192;

/// A block takes `rounds` times `tiles` adjacent tiles, a tile being a node for each of its `warps`;
/// all powers of two, so that a block's share is a node of the tree too.
struct dot_shape {
  unsigned blocks = 1;
  unsigned warps = 1;
  unsigned tiles = 1;
  unsigned rounds = 1;
};

constexpr dot_shape shape_of_dot(std::size_t n, int lanes, unsigned words_a_sum) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t nodes =
      std::max<std::uint64_t>(1, ceil_div(n, order::chunk * static_cast<unsigned>(chunks_a_warp(lanes))));
  dot_shape s;
  if (nodes <= max_warps) {
    s.warps = static_cast<unsigned>(std::bit_ceil(nodes));
    return s;
  }
  s.warps = nodes <= 256 ? 2 : nodes <= 512 ? 4 : max_warps;
  const std::uint64_t tiles = ceil_div(nodes, s.warps);
  s.tiles = static_cast<unsigned>(std::clamp<std::uint64_t>(std::bit_floor(tiles / 256), 1, max_tiles));
  const std::uint64_t blocks = ceil_div(tiles, s.tiles);
  s.rounds = static_cast<unsigned>(std::bit_ceil(ceil_div(blocks, workspace_words / words_a_sum)));
  s.blocks = static_cast<unsigned>(ceil_div(blocks, s.rounds));
  return s;
}

}  // namespace tally::backends::cuda
