// The element-wise kernels on float32.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<float>(elementwise what) {
  return find_transform_kernel<float>(what);
}

}  // namespace tally::backends::cuda
