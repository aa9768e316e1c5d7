// Partition of a sum over warps, blocks and loops, by n and types alone. It changes no bit: what a
// warp or a block sums is a node of the order's tree.
#pragma once

#include <tally/numerics/order.hpp>
#include <tally/operands/types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Returns the order's lanes per thread: 16-byte loads, or four lanes of narrower types
/// (tuning/dot.md: lanes_per_thread).
TALLY_HOST_DEVICE constexpr int lanes_per_thread(std::size_t x_size, std::size_t y_size) {
  return x_size >= 8 || y_size >= 8 ? 2 : 4;
}

/// The same for one vector; elements of one byte come 8 at a time.
TALLY_HOST_DEVICE constexpr int lanes_per_thread(std::size_t size) {
  return size == 1 ? 8 : lanes_per_thread(size, size);
}

/// Lanes per thread where elements are loaded one by one.
inline constexpr int lanes_of_any = 2;

/// Returns the chunks of a warp's lanes, a node of the tree.
TALLY_HOST_DEVICE constexpr int chunks_per_warp(int lanes) {
  return 32 * lanes / static_cast<int>(order::lanes);
}

/// Warps per block, at most.
inline constexpr unsigned max_warps = 8;

/// Tiles whose sums wait in shared memory, at most.
inline constexpr unsigned max_tiles = 8;

/// Words (words.hpp) for the sums of a grid.
inline constexpr unsigned scratch_words = 8192;

/// Words that a thread takes at once: 1 to 8 sums.
inline constexpr unsigned words_at_once = 8;

template <class N>
TALLY_HOST_DEVICE constexpr N words_of_blocks(N blocks, unsigned words_per_sum) {
  return (blocks * words_per_sum + words_at_once - 1) / words_at_once * words_at_once;
}

/// `tiles` adjacent tiles per block, a tile being one node for each of the block's `warps`. Both
/// are powers of two, so a block's sum is a node, too.
struct sum_shape {
  unsigned blocks = 1;
  unsigned warps = 1;
  unsigned tiles = 1;
};

/// Sums of at most `max_nodes` nodes, a warp's chunks each.
struct sum_case {
  std::uint64_t max_nodes;
  unsigned warps;  ///< per block
};

/// Evidence: tuning/dot.md, sum_cases.
inline constexpr sum_case sum_cases[] = {
    {256, 2},
    {512, 4},
    {~std::uint64_t{0}, max_warps},
};

/// A single block takes up to `max_warps` nodes, a warp each. Beyond, there is a block per SM as
/// far as they go; all are resident up to 2^24 elements. Then there are many, since the device
/// evens out their ends (tuning/dot.md: tiles_before_growth).
inline constexpr std::uint64_t tiles_before_growth = 256;

/// Pre: nodes >= 1.
constexpr sum_shape shape_of_nodes(std::uint64_t nodes, unsigned words_per_sum) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  sum_shape s;
  if (nodes <= max_warps) {
    s.warps = static_cast<unsigned>(std::bit_ceil(nodes));
    return s;
  }
  for (const sum_case& c : sum_cases) {
    s.warps = c.warps;
    if (nodes <= c.max_nodes) break;
  }
  const std::uint64_t tiles = ceil_div(nodes, s.warps);
  std::uint64_t a_block =
      std::clamp<std::uint64_t>(std::bit_floor(tiles / tiles_before_growth), 1, max_tiles);
  while (ceil_div(tiles, a_block) > scratch_words / words_per_sum) a_block *= 2;
  s.tiles = static_cast<unsigned>(a_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, a_block));
  return s;
}

constexpr sum_shape shape_of_sum(std::size_t n, int lanes, unsigned words_per_sum) {
  const std::uint64_t a_node = order::chunk * static_cast<unsigned>(chunks_per_warp(lanes));
  return shape_of_nodes(std::max<std::uint64_t>(1, (n + a_node - 1) / a_node), words_per_sum);
}

}  // namespace tally::backends::cuda
