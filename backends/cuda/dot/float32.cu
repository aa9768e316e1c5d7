// This source compiles the kernels of dot that accumulate in float32.
#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/dot/kernels.hpp"

namespace tally::backends::cuda {

template <>
const pair_table<dot_kernel_function>& dot_kernels<float>(bool contiguous) {
  return table_of_dot_kernels<float>(contiguous);
}

}  // namespace tally::backends::cuda
