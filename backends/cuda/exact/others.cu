// Kernels of other operands: their own for products of 16-bit floats, and of bool and float32; one
// for the rest.
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
template <>
exact_kernel_pair exact_kernels<bool, float>() {
  return {exact_kernel_of<vector_tile<bool, float, 32>>(),
          exact_kernel_of<vector_tile<bool, float, 4>>()};
}
template <>
exact_kernel_pair exact_kernels<any_vector, any_vector>() {
  return {exact_kernel_of<any_tile>(), exact_kernel_of<any_tile>()};
}

}  // namespace tally::backends::cuda
