// This source compiles the exact grade of products of 16-bit floats.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<float16, float16>() {
  return vector_kernels<float16, float16>();
}
template <>
exact_kernel_pair exact_kernels<bfloat16, bfloat16>() {
  return vector_kernels<bfloat16, bfloat16>();
}

}  // namespace tally::backends::cuda
