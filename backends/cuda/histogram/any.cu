// Kernels that read no samples, or any type's.
#include "backends/common/histogram/weights.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/histogram/kernels.hpp"
#include "backends/cuda/histogram/sorted_counts.cuh"
#include "backends/cuda/histogram/weights.cuh"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {
namespace {

using word = unsigned long long;

__device__ std::int64_t thread_of_grid() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::int64_t threads_of_grid() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Counting may start at once, but waits for these zeros before it hands in counts.
__global__ void zeros_kernel(const __grid_constant__ histogram_zeros_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const auto fill = [](std::uint32_t* to, std::size_t n) {
    for (std::size_t i = thread_of_grid(); i < n; i += threads_of_grid()) to[i] = 0;
  };
  fill(job.counts, job.words);
  fill(job.outside, job.outside_words);
  fill(job.totals, job.totals_words);
}

/// Each thread reads a word at its own address, which loads of constants would not do
/// (tuning/histogram.md: bytes_kernel).
__global__ void bytes_kernel(const __grid_constant__ histogram_bytes_job job) {
  const std::byte* from = job.bytes;
  ptx::opaque(from);
  wait_for_launch_before();
  const auto words = static_cast<unsigned>((job.count + sizeof(word) - 1) / sizeof(word));
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
    reinterpret_cast<word*>(job.to)[i] = reinterpret_cast<const word*>(from)[i];
  }
}

__device__ std::int64_t key_at(const histogram_out_of_range_job& job, std::int64_t i) {
  return typed::number_at<std::int64_t>(job.x, i * job.increment, job.element);
}

__global__ void find_out_of_range_kernel(const __grid_constant__ histogram_out_of_range_job job) {
  wait_for_launch_before();
  for (std::int64_t i = thread_of_grid(); i < job.n; i += threads_of_grid()) {
    if (job.keys(key_at(job, i)) < job.keys.bins) continue;
    atomicMax(reinterpret_cast<word*>(job.stray), ~static_cast<word>(i));
    return;  // the thread's other keys are later
  }
}

__global__ void report_out_of_range_kernel(const __grid_constant__ histogram_out_of_range_job job) {
  wait_for_launch_before();
  const std::uint64_t found = *job.stray;
  *job.stray = 0;
  const auto index = static_cast<std::int64_t>(~found);
  deliver(out_of_range_answer{found, found > 1 ? key_at(job, index) : 0}, job.tag, job.result);
}

}  // namespace

const void* histogram_weights_kernel(type element, bool doubles, weights_step step) {
  const auto kernel = [=]<class S, class W>() -> const void* {
    switch (step) {
      case weights_step::begin:
        return reinterpret_cast<const void*>(&begin_weights<W>);
      case weights_step::in_memory:
        return reinterpret_cast<const void*>(&add_weights<S, W>);
      case weights_step::in_tables:
        return reinterpret_cast<const void*>(&add_weights_in_tables<S, W>);
      case weights_step::all_limbs:
        return reinterpret_cast<const void*>(&add_to_all_limbs<S, W>);
      default:
        return reinterpret_cast<const void*>(&finish_weights<W>);
    }
  };
  return with_type<real_types>(element, [=]<class X>() {
    using S = sample_t<X>;
    return doubles ? kernel.template operator()<S, double>()
                   : kernel.template operator()<S, float>();
  });
}
const void* histogram_zeros_kernel() { return reinterpret_cast<const void*>(&zeros_kernel); }
const void* histogram_count_sorted_kernel() {
  return reinterpret_cast<const void*>(&count_sorted_kernel);
}
const void* histogram_bytes_kernel() { return reinterpret_cast<const void*>(&bytes_kernel); }
const void* histogram_find_out_of_range_kernel() {
  return reinterpret_cast<const void*>(&find_out_of_range_kernel);
}
const void* histogram_report_out_of_range_kernel() {
  return reinterpret_cast<const void*>(&report_out_of_range_kernel);
}

}  // namespace tally::backends::cuda
