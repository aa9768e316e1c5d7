// Predicated loads from shared memory, side by side; plain code becomes branches, which wait for
// each load.
#pragma once

#include "backends/cuda/device/ptx.cuh"

namespace tally::backends::cuda {

/// Returns a shared-memory address for load_shared_if.
__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

using ptx::load_shared_if;

}  // namespace tally::backends::cuda
