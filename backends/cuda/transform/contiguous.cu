// This source compiles the element-wise kernels on contiguous vectors of one type, and those that
// copy bits.
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
template <>
transform_kernel transform_kernel_of<float16>(elementwise what) {
  return find_transform_kernel<float16>(what);
}
template <>
transform_kernel transform_kernel_of<bfloat16>(elementwise what) {
  return find_transform_kernel<bfloat16>(what);
}
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
  return with_type<real_types>(
      element, []<class T>() { return kernel_on<elementwise::copy, copied_as<T>>(); });
}

}  // namespace tally::backends::cuda
