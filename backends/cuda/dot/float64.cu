// This source compiles the kernels of dot that accumulate in float64.
#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/dot/kernels.hpp"

namespace tally::backends::cuda {

template <>
const pair_table<dot_kernel_function>& dot_kernels<double>(bool contiguous) {
  return table_of_dot_kernels<double>(contiguous);
}

}  // namespace tally::backends::cuda
