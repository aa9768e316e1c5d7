// This source compiles the element-wise kernels on any types and strides.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {
namespace {

template <class V>
transform_kernel_function* find(elementwise what) {
  transform_kernel_function* found = nullptr;
  with_function<V>(what, [&]<elementwise each>() { found = &transform_any<each, V>; });
  return found;
}

}  // namespace

transform_kernel_function* any_copy_kernel_of(type number) {
  if (number == type::boolean) return &copy_any<types::bool8>;
  switch (size_of(number)) {
    case 1:
      return &copy_any<std::uint8_t>;
    case 2:
      return &copy_any<std::uint16_t>;
    case 4:
      return &copy_any<std::uint32_t>;
    default:
      return &copy_any<std::uint64_t>;
  }
}

transform_kernel_function* any_transform_kernel_of(elementwise what, type computation) {
  switch (computation) {
    case type::int64:
      return find<std::int64_t>(what);
    case type::float32:
      return find<float>(what);
    case type::complex64:
      return find<complex_number<float>>(what);
    case type::complex128:
      return find<complex_number<double>>(what);
    default:
      return find<double>(what);
  }
}

}  // namespace tally::backends::cuda
