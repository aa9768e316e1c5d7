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
  return with_type<real_types>(
      number, []<class T>() -> transform_kernel_function* { return &copy_any<copied_as<T>>; });
}

transform_kernel_function* any_transform_kernel_of(elementwise what, type computation) {
  return with_type<accumulator_types>(computation,
                                      [&]<class C>() { return find<computed_t<C>>(what); });
}

}  // namespace tally::backends::cuda
