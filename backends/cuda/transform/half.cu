// This source compiles the element-wise kernels on 16-bit floats.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<float16>(elementwise what) {
  return find_transform_kernel<float16>(what);
}
template <>
transform_kernel transform_kernel_of<bfloat16>(elementwise what) {
  return find_transform_kernel<bfloat16>(what);
}

}  // namespace tally::backends::cuda
