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

/// Says the same where elements are loaded one by one, from any vectors.
inline constexpr int lanes_of_any = 2;

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
inline constexpr unsigned scratch_words = 8192;

/// A thread takes over this many words at once: 1 to 8 blocks' sums.
inline constexpr unsigned words_at_once = 8;

/// Returns how many words the sums of so many blocks take: a multiple of what a thread takes at
/// once.
template <class N>
TALLY_HOST_DEVICE constexpr N words_of_blocks(N blocks, unsigned words_a_sum) {
  return (blocks * words_a_sum + words_at_once - 1) / words_at_once * words_at_once;
}

/// A block takes `tiles` adjacent tiles. A tile is a node for each of the block's `warps`. Both
/// numbers are powers of two, so a block's share is a node of the tree too.
struct sum_shape {
  unsigned blocks = 1;
  unsigned warps = 1;
  unsigned tiles = 1;
};

/// A case is a sum of at most so many nodes, a node being what a warp takes at a time.
struct sum_case {
  std::uint64_t most_nodes;
  unsigned warps;  ///< a block has this many
};

/// The figures are of f64 x f64, where a node is a chunk of 1024: the device time in us of one of
/// 100 calls in a graph, and in brackets those of cuBLAS and of CUB's faster form in the same run.
/// Up to 2^20 the data are in L2. Device: H200. Date: 2026-11-21.
inline constexpr sum_case sum_cases[] = {
    // 2^14: 1.79 (2.97, 2.82). 2^16: 1.97 (3.84, 3.07). 2^18: 2.43 (5.68, 3.29).
    // With 8 warps 2^14 and 2^18 take 0.3 to 0.7 more.
    {256, 2},
    {512, 4},
    // 2^20: 3.88 (7.24, 4.89), with 2 warps 1 more.
    // 2^22: 17.3 (20.2, 18.1). 2^24: 61.4 (66.0, 63.2). 2^28: 938 (965, 946).
    {~std::uint64_t{0}, max_warps},
};

/// A single block takes up to `max_warps` nodes, a warp each. 2^10: 1.30 (2.59, 1.76). 2^12: 1.41
/// (2.73, 2.71); two blocks are level there, and a cluster of blocks that adds in distributed
/// shared memory takes 0.2 more.
///
/// Beyond that there is one block for each multiprocessor as far as they go, and up to 2^24 all
/// blocks are resident at once. Then there are many blocks, since the device evens out their ends:
/// 2^28 takes 1000 with 1 tile a block, 950 with 2, 937 to 943 with 4 to 16.
inline constexpr std::uint64_t tiles_before_growth = 256;

/// Cuts a sum of `nodes` nodes, of which there is at least one.
constexpr sum_shape shape_of_nodes(std::uint64_t nodes, unsigned words_a_sum) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  sum_shape s;
  if (nodes <= max_warps) {
    s.warps = static_cast<unsigned>(std::bit_ceil(nodes));
    return s;
  }
  for (const sum_case& c : sum_cases) {
    s.warps = c.warps;
    if (nodes <= c.most_nodes) break;
  }
  const std::uint64_t tiles = ceil_div(nodes, s.warps);
  std::uint64_t a_block =
      std::clamp<std::uint64_t>(std::bit_floor(tiles / tiles_before_growth), 1, max_tiles);
  while (ceil_div(tiles, a_block) > scratch_words / words_a_sum) a_block *= 2;
  s.tiles = static_cast<unsigned>(a_block);
  s.blocks = static_cast<unsigned>(ceil_div(tiles, a_block));
  return s;
}

constexpr sum_shape shape_of_sum(std::size_t n, int lanes, unsigned words_a_sum) {
  const std::uint64_t a_node = order::chunk * static_cast<unsigned>(chunks_a_warp(lanes));
  return shape_of_nodes(std::max<std::uint64_t>(1, (n + a_node - 1) / a_node), words_a_sum);
}

}  // namespace tally::backends::cuda
