#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<float, float>() {
  return vector_kernels<float, float>();
}
template <>
exact_kernel_pair exact_kernels<float, no_vector>() {
  return vector_kernels<float, no_vector>();
}
template <>
exact_kernel_pair exact_kernels<float, squared>() {
  return vector_kernels<float, squared>();
}

}  // namespace tally::backends::cuda
