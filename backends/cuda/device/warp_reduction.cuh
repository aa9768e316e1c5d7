// A warp's threads combine integers here, each of its own, and all get the result. Compute
// capability 8 has instructions for that.
#pragma once

#include "backends/cuda/device/kernel.cuh"

#include <cstdint>

namespace tally::backends::cuda {

__device__ inline std::uint32_t largest_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(whole_warp, value);
#else
#pragma unroll
  for (unsigned d = warp / 2; d > 0; d /= 2) {
    value = ::max(value, __shfl_xor_sync(whole_warp, value, static_cast<int>(d)));
  }
  return value;
#endif
}
__device__ inline std::uint64_t largest_of_warp(std::uint64_t value) {
  const auto high = static_cast<std::uint32_t>(value >> 32);
  const std::uint32_t most = largest_of_warp(high);
  return std::uint64_t{most} << 32 |
         largest_of_warp(high == most ? static_cast<std::uint32_t>(value) : 0u);
}

/// Returns the sum of the threads' values, without the bits above 32.
__device__ inline std::uint32_t sum_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(whole_warp, value);
#else
#pragma unroll
  for (unsigned d = warp / 2; d > 0; d /= 2) {
    value += __shfl_xor_sync(whole_warp, value, static_cast<int>(d));
  }
  return value;
#endif
}

}  // namespace tally::backends::cuda
