// This source compiles the kernels of dot that accumulate in complex64.
#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/dot/kernels.hpp"

namespace tally::backends::cuda {

template <>
const pair_table<dot_kernel_function>& dot_kernels<std::complex<float>>(bool contiguous) {
  return table_of_dot_kernels<std::complex<float>>(contiguous);
}

}  // namespace tally::backends::cuda
