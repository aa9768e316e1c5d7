// This header decides how a dot product is cut over warps, blocks and loops. n and the types decide
// it alone, and none of it can change a bit of the result: shares are nodes of the order's tree.
#pragma once

#include <tally/order.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Says how many of the order's lanes a thread owns, for elements of these sizes. With two doubles
/// or four floats its loads are 16 bytes wide. For narrower types four lanes are enough: int8 runs
/// at 4.3 TB/s of 4.6, float16 at 4.5.
TALLY_HOST_DEVICE constexpr int lanes_a_thread(std::size_t x_size, std::size_t y_size) {
  return x_size >= 8 || y_size >= 8 ? 2 : 4;
}

/// Says the same for one vector. Elements of one byte come 8 at a time.
TALLY_HOST_DEVICE constexpr int lanes_a_thread(std::size_t size) {
  return size == 1 ? 8 : lanes_a_thread(size, size);
}

/// Says how many chunks a warp takes at a time: those that its 32 threads' lanes make up, which are
/// a node of the tree.
TALLY_HOST_DEVICE constexpr int chunks_a_warp(int lanes) {
  return 32 * lanes / static_cast<int>(order::lanes);
}

/// A block has at most this many warps.
inline constexpr unsigned max_warps = 8;

/// A block gathers the sums of at most this many tiles in shared memory before it adds them.
inline constexpr unsigned max_tiles = 8;

/// Blocks hand over their sums in this many words (words.hpp); the sums of one grid fit.
inline constexpr unsigned workspace_words = 8192;

/// A block takes `tiles` adjacent tiles. A tile is a node for each of the block's `warps`. Both
/// numbers are powers of two, so a block's share is a node of the tree too.
struct dot_shape {
  unsigned blocks = 1;
  unsigned warps = 1;
  unsigned tiles = 1;
};

/// Of `nodes` warp's shares, at least one. Figures: H200, f64 x f64 (a node is a chunk of 1024),
/// device time of one of 100 calls in a graph; up to 2^20 the data is in L2. The others are cuBLAS
/// and CUB's faster form, in the same run.
constexpr dot_shape shape_of_nodes(std::uint64_t nodes, unsigned words_a_sum) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  dot_shape s;
  // One block: 1.30 us at 2^10 (2.59, 1.76), 1.41 at 2^12 (2.73, 2.71). Two blocks are level at
  // 2^12, a cluster of blocks that adds in distributed shared memory is 0.2 us slower.
  if (nodes <= max_warps) {
    s.warps = static_cast<unsigned>(std::bit_ceil(nodes));
    return s;
  }
  // One block a multiprocessor, as far as they go: 1.79 us at 2^14 (2.97, 2.82), 1.97 at 2^16
  // (3.84, 3.07), 2.43 at 2^18 (5.68, 3.29), 3.88 at 2^20 (7.24, 4.89). With 2 warps everywhere
  // 2^20 takes 1 us longer, with 8 everywhere 2^14 and 2^18 0.3 to 0.7 us.
  s.warps = nodes <= 256 ? 2 : nodes <= 512 ? 4 : max_warps;
  // All blocks resident at once up to 2^24: 17.3 us at 2^22 (20.2, 18.1), 61.4 at 2^24
  // (66.0, 63.2). Then many blocks, since the device evens out their ends: 938 us at 2^28 (965,
  // 946). There 1 tile a block takes 1000, 2 950, 4 to 16 937 to 943.
  const std::uint64_t tiles = ceil_div(nodes, s.warps);
  std::uint64_t a_block = std::clamp<std::uint64_t>(std::bit_floor(tiles / 256), 1, max_tiles);
  while (ceil_div(tiles, a_block) > workspace_words / words_a_sum) a_block *= 2;
  s.tiles = static_cast<unsigned>(a_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, a_block));
  return s;
}

constexpr dot_shape shape_of_dot(std::size_t n, int lanes, unsigned words_a_sum) {
  const std::uint64_t a_node = order::chunk * static_cast<unsigned>(chunks_a_warp(lanes));
  return shape_of_nodes(std::max<std::uint64_t>(1, (n + a_node - 1) / a_node), words_a_sum);
}

}  // namespace tally::backends::cuda
