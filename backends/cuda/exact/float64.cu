// The exact grade of products of float64.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<double, double>() {
  return vector_kernels<double, double>();
}

}  // namespace tally::backends::cuda
