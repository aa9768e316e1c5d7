// Reductions of integers over a warp. Compute capability 8 has instructions for results in all
// threads.
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

__device__ inline std::uint32_t smallest_of_warp(std::uint32_t value) {
  return ~largest_of_warp(~value);
}

/// Returns the warp's sum, modulo 2^32.
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

/// Returns the inclusive prefix sum over the warp.
__device__ inline std::uint32_t sum_upto_thread(std::uint32_t value) {
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) {
    const std::uint32_t before = __shfl_up_sync(whole_warp, value, d);
    if (threadIdx.x % warp >= d) value += before;
  }
  return value;
}

/// Returns the exclusive prefix sum over the block. `of_warp`: shared memory, a value per warp.
__device__ inline std::uint32_t sum_of_lower_threads(std::uint32_t value, std::uint32_t* of_warp) {
  const unsigned thread = threadIdx.x % warp, w = threadIdx.x / warp;
  const std::uint32_t upto = sum_upto_thread(value);
  if (thread == warp - 1) of_warp[w] = upto;
  __syncthreads();
  if (w == 0) {
    const std::uint32_t upto_warp =
        sum_upto_thread(thread < blockDim.x / warp ? of_warp[thread] : 0);
    if (thread < blockDim.x / warp) of_warp[thread] = upto_warp;
  }
  __syncthreads();
  return upto - value + (w > 0 ? of_warp[w - 1] : 0);
}

}  // namespace tally::backends::cuda
