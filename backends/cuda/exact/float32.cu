// The exact grade of products of float32.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<float, float>() {
  return vector_kernels<float, float>();
}

}  // namespace tally::backends::cuda
