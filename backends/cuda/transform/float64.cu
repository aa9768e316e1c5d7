// The element-wise kernels on float64.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<double>(elementwise what) {
  return find_transform_kernel<double>(what);
}

}  // namespace tally::backends::cuda
