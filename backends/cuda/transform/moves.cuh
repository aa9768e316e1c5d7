#pragma once

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/transform/moves.hpp"

namespace tally::backends::cuda {

__device__ inline std::int64_t index_of_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Calls f(i) for the bytes before and after those taken 16 at a time. The last block has enough
/// threads.
template <class F>
__device__ void for_each_end(const move_job& job, const F& f) {
  if (blockIdx.x != gridDim.x - 1) return;
  std::int64_t i = threadIdx.x;
  if (i >= job.head) i += (job.bytes - job.head) / 16 * 16;
  if (i < job.bytes) f(i);
}

/// Calls f.operator()<T>() for an unsigned integer of this size.
template <class F>
__device__ void with_unit(int bytes, const F& f) {
  if (bytes == 8) return f.template operator()<std::uint64_t>();
  if (bytes == 4) return f.template operator()<std::uint32_t>();
  if (bytes == 2) return f.template operator()<std::uint16_t>();
  f.template operator()<std::uint8_t>();
}

static __global__ void __launch_bounds__(threads_of_move)
    fill_vectors(const __grid_constant__ move_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  uint4 value;
  memcpy(&value, job.value, sizeof value);
  auto* const z = reinterpret_cast<uint4*>(job.z + job.head);
  const std::int64_t whole = (job.bytes - job.head) / 16;
  const std::int64_t first =
      std::int64_t{blockIdx.x} * (stores_of_fill * threads_of_move) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < stores_of_fill; ++k) {
    const std::int64_t at = first + k * static_cast<int>(threads_of_move);
    if (at < whole) z[at] = value;
  }
  for_each_end(job, [&](std::int64_t i) {
    const auto at = static_cast<unsigned>(i - job.head) % 16;
    const std::uint64_t word = at < 8 ? job.value[0] : job.value[1];
    job.z[i] = static_cast<std::byte>(word >> (at % 8 * 8));
  });
}

static __global__ void __launch_bounds__(threads_of_move)
    fill_any(const __grid_constant__ move_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  with_unit(job.unit, [&]<class T>() {
    T value[2];
    memcpy(value, job.value, sizeof value);
    for (std::int64_t i = index_of_thread(); i < job.n; i += std::int64_t{gridDim.x} * blockDim.x) {
      T* const to = reinterpret_cast<T*>(job.z) + i * job.z_step;
      to[0] = value[0];
      if (job.units == 2) to[1] = value[1];
    }
  });
}

static __global__ void __launch_bounds__(threads_of_move)
    swap_vectors(const __grid_constant__ move_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  auto* const x = reinterpret_cast<uint4*>(job.x + job.head);
  auto* const z = reinterpret_cast<uint4*>(job.z + job.head);
  const std::int64_t at = index_of_thread();
  if (at < (job.bytes - job.head) / 16) {
    const uint4 first = __ldcg(x + at), second = __ldcg(z + at);
    x[at] = second;
    z[at] = first;
  }
  for_each_end(job, [&](std::int64_t i) {
    const std::byte held = job.x[i];
    job.x[i] = job.z[i];
    job.z[i] = held;
  });
}

static __global__ void __launch_bounds__(threads_of_move)
    swap_any(const __grid_constant__ move_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  with_unit(job.unit, [&]<class T>() {
    for (std::int64_t i = index_of_thread(); i < job.n; i += std::int64_t{gridDim.x} * blockDim.x) {
      T* const x = reinterpret_cast<T*>(job.x) + i * job.x_step;
      T* const z = reinterpret_cast<T*>(job.z) + i * job.z_step;
      for (int k = 0; k < job.units; ++k) {
        const T first = __ldcg(x + k), second = __ldcg(z + k);
        x[k] = second;
        z[k] = first;
      }
    }
  });
}

}  // namespace tally::backends::cuda
