// Partition of the exact grade over warps, blocks and loops; it changes no bit.
#pragma once

#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"

#include <algorithm>
#include <cstdint>

namespace tally::backends::cuda {

struct exact_shape {
  const exact_kernel_choice* kernel = nullptr;
  unsigned tiles = 1;  ///< per batch; a warp takes one batch at a time, of at most 32
  bool dynamic = false;
  unsigned blocks = 1;
  unsigned warps = 1;  ///< per block
};

// Evidence, for f64 x f64: tuning/exact.md, shape_of_exact.

/// Terms per thread of a single block.
inline constexpr unsigned terms_of_one_block = 12;
/// Up to this many tiles a warp, all resident warps get equal parts. Beyond, warps take batches,
/// fractions of a part, as they get ready.
inline constexpr std::uint64_t max_tiles_of_share = 32, batches_per_warp = 4;
inline constexpr std::uint64_t min_batch = 8, max_batch = 16;

/// Tiles are short while each resident warp has at most one.
inline exact_shape shape_of_exact(const exact_kernel_pair& kernels, std::uint64_t n,
                                  unsigned products, unsigned multiprocessors) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  const std::uint64_t resident =
      std::uint64_t{std::min(exact_blocks * multiprocessors, max_exact_blocks)} * exact_warps;
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
      a_warp <= max_tiles_of_share
          ? std::max<std::uint64_t>(a_warp, 1)
          : std::clamp<std::uint64_t>(a_warp / batches_per_warp, min_batch, max_batch));
  const std::uint64_t batches = ceil_div(tiles, s.tiles);
  s.dynamic = batches > resident;
  s.warps = static_cast<unsigned>(std::clamp<std::uint64_t>(batches, 1, exact_warps));
  s.blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(ceil_div(batches, exact_warps), 1, resident / exact_warps));
  return s;
}

}  // namespace tally::backends::cuda
