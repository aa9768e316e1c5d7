// Results of rows on a device, and where rows begin in a row block.
#pragma once

#include "backends/cuda/device/update.cuh"
#include "backends/cuda/spmv/job.hpp"

namespace tally::backends::cuda {

/// Returns the index in a row block of a row's first term, from its offset's lower bits. If the
/// offset has changed since the plan, y is unspecified, but the index is clamped.
template <class Piece>
__device__ int start_in_row_block(std::uint32_t offset, const Piece& run) {
  const std::uint32_t start = offset - static_cast<std::uint32_t>(run.nonzero);
  return static_cast<int>(::min(start, static_cast<std::uint32_t>(run.terms)));
}

}  // namespace tally::backends::cuda
