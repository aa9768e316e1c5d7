// The exact grade of products of bfloat16.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<bfloat16, bfloat16>() {
  return vector_kernels<bfloat16, bfloat16>();
}

}  // namespace tally::backends::cuda
