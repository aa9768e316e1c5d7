// This source compiles the element-wise kernels on integers, and those that copy bits.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {

template <>
transform_kernel transform_kernel_of<std::int8_t>(elementwise what) {
  return find_transform_kernel<std::int8_t>(what);
}
template <>
transform_kernel transform_kernel_of<std::int32_t>(elementwise what) {
  return find_transform_kernel<std::int32_t>(what);
}
template <>
transform_kernel transform_kernel_of<std::int64_t>(elementwise what) {
  return find_transform_kernel<std::int64_t>(what);
}

transform_kernel copy_kernel_of(type element) {
  if (element == type::boolean) return kernel_on<elementwise::copy, types::bool8>();
  switch (size_of(element)) {
    case 1:
      return kernel_on<elementwise::copy, std::uint8_t>();
    case 2:
      return kernel_on<elementwise::copy, std::uint16_t>();
    case 4:
      return kernel_on<elementwise::copy, std::uint32_t>();
    default:
      return kernel_on<elementwise::copy, std::uint64_t>();
  }
}

}  // namespace tally::backends::cuda
