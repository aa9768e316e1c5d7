// The exact grade of products of float16.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<float16, float16>() {
  return vector_kernels<float16, float16>();
}

}  // namespace tally::backends::cuda
