// Kernels of other operands: their own for products of 16-bit floats, and of bool and float32; one
// for the rest.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template exact_kernel_pair exact_kernels<float16, float16>();
template exact_kernel_pair exact_kernels<bfloat16, bfloat16>();
template exact_kernel_pair exact_kernels<bool, float>();
template exact_kernel_pair exact_kernels<any_vector, any_vector>();
template exact_kernel_pair exact_kernels<weighted_vector, weighted_vector>();

}  // namespace tally::backends::cuda
