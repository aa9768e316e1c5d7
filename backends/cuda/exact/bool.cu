// The exact grade of products of bool and float32.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<bool, float>() {
  return {exact_kernel_of<vector_tile<bool, float, 32>>(),
          exact_kernel_of<vector_tile<bool, float, 4>>()};
}

}  // namespace tally::backends::cuda
