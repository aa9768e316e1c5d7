#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/gather/job.hpp"

namespace tally::backends::cuda {
namespace {

__global__ void __launch_bounds__(threads_of_gather)
    move_elements(const __grid_constant__ gather_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const std::int64_t step = std::int64_t{gridDim.x} * threads_of_gather;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads_of_gather + threadIdx.x; i < job.n;
       i += step) {
    const auto at = static_cast<std::size_t>(i);
    switch (job.unit) {
      case 8:
        job.elements.move<std::uint64_t>(at);
        break;
      case 4:
        job.elements.move<std::uint32_t>(at);
        break;
      case 2:
        job.elements.move<std::uint16_t>(at);
        break;
      default:
        job.elements.move<std::uint8_t>(at);
    }
  }
}

}  // namespace

const void* gather_kernel() { return reinterpret_cast<const void*>(&move_elements); }

}  // namespace tally::backends::cuda
