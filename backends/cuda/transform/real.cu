// This source compiles the element-wise kernels on float and double.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<float>(elementwise what) {
  return find_transform_kernel<float>(what);
}
template <>
transform_kernel transform_kernel_of<double>(elementwise what) {
  return find_transform_kernel<double>(what);
}

}  // namespace tally::backends::cuda
