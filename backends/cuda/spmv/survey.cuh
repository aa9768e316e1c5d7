// The kernels that look at a matrix before any product share this.
#pragma once

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/spmv/plan.hpp"

namespace tally::backends::cuda {

__device__ inline std::int64_t offset(const csr_survey& s, std::int64_t i) {
  return s.offsets[static_cast<std::size_t>(i)];
}

/// Returns a counter. atomicMax and atomicAdd know std::uint64_t by the name unsigned long long
/// only.
__device__ inline unsigned long long* counter(const csr_survey& s, unsigned word) {
  return reinterpret_cast<unsigned long long*>(s.found + word);
}

}  // namespace tally::backends::cuda
