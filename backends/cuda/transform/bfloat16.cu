// The element-wise kernels on bfloat16.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<bfloat16>(elementwise what) {
  return find_transform_kernel<bfloat16>(what);
}

}  // namespace tally::backends::cuda
