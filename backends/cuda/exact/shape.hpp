// This header decides how a call of the exact grade is cut over warps, blocks and loops. None of it
// can change a bit of the result.
#pragma once

#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"

#include <algorithm>
#include <cstdint>

namespace tally::backends::cuda {

struct exact_shape {
  const exact_kernel_choice* kernel = nullptr;
  unsigned tiles = 1;  ///< a batch has this many, which a warp takes at a time; at most 32
  bool dynamic = false;
  unsigned blocks = 1;
  unsigned warps = 1;  ///< a block has this many
};

// The figures are of f64 x f64 in [-1, 1): the device time in us of one of 100 calls in a graph (20
// at 2^24, 3 at 2^28). Device: H200. Date: 2026-11-21.
//
//             short tiles       one block         all resident warps,            batches as warps
//             of 4 terms        (more blocks)     equal shares                   get ready
//     1000    2.67 (8: 3.43)
//     2048                      2.86 (3.54)
//     3000                      3.39 (3.59)
//     4096    3.57 (8: 3.85)    3.76 (3.57)
//     2^14    3.60 (8: 3.98)
//     2^20                                        5.95 (4 terms: 6.11, 16: 8.46)
//     2^22                                        20.1
//     2^24                                        67.4 (batches of 4 tiles: 72.1)
//     2^28                                        1 % more                       927

/// One block, which needs no scratch memory, takes up to so many terms a thread.
inline constexpr unsigned terms_of_one_block = 12;
/// Up to so many tiles a warp all resident warps get equal shares. Beyond that warps take batches
/// as they get ready, each a fraction of a share: 2^28 take 959 in batches of 8 tiles, 1042 of 4; a
/// block for every 8 batches takes 2 % more. With exponents spread over 2^+-100 equal shares take 3
/// % more, and such blocks 36 %.
inline constexpr std::uint64_t most_tiles_of_share = 32, batches_of_share = 4;
inline constexpr std::uint64_t least_batch = 8, most_batch = 16;

/// Cuts a call of n elements. Short tiles are taken as long as each resident warp has one at most:
/// with 2 terms a thread instead of 4, 2^12 to 2^16 take up to 0.2 less and other sizes longer, and
/// in blocks of 2 or 4 warps they take up to 1 longer.
inline exact_shape shape_of_exact(const exact_kernel_pair& kernels, std::uint64_t n,
                                  unsigned products, unsigned multiprocessors) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t resident = std::uint64_t{exact_blocks} * multiprocessors * exact_warps;
  const auto tiles_of = [&](const exact_kernel_choice& kernel) {
    return ceil_div(n, static_cast<unsigned>(kernel.tile)) * products;
  };
  exact_shape s;
  s.kernel = tiles_of(kernels.short_tiles) <= resident ? &kernels.short_tiles : &kernels.long_tiles;
  const std::uint64_t tiles = tiles_of(*s.kernel);
  const std::uint64_t one_block =
      exact_warps * std::max(1u, terms_of_one_block * 32 / static_cast<unsigned>(s.kernel->tile));
  const std::uint64_t a_warp = ceil_div(tiles, tiles <= one_block ? exact_warps : resident);
  s.tiles = static_cast<unsigned>(
      a_warp <= most_tiles_of_share
          ? std::max<std::uint64_t>(a_warp, 1)
          : std::clamp<std::uint64_t>(a_warp / batches_of_share, least_batch, most_batch));
  const std::uint64_t batches = ceil_div(tiles, s.tiles);
  s.dynamic = batches > resident;
  s.warps = static_cast<unsigned>(std::clamp<std::uint64_t>(batches, 1, exact_warps));
  s.blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(ceil_div(batches, exact_warps), 1, resident / exact_warps));
  return s;
}

}  // namespace tally::backends::cuda
