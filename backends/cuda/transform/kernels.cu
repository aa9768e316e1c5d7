// All element-wise kernels.
#include "backends/cuda/transform/kernel.cuh"
#include "backends/cuda/transform/moves.cuh"

namespace tally::backends::cuda {
namespace {

template <class V>
transform_kernel_function* find(elementwise what) {
  transform_kernel_function* found = nullptr;
  with_function<V, true>(what, [&]<elementwise each>() { found = &transform_any<each, V>; });
  return found;
}

}  // namespace

template transform_kernel transform_kernel_of<float>(elementwise);
template transform_kernel transform_kernel_of<double>(elementwise);
template transform_kernel transform_kernel_of<float16>(elementwise);
template transform_kernel transform_kernel_of<bfloat16>(elementwise);
template transform_kernel transform_kernel_of<std::int8_t>(elementwise);
template transform_kernel transform_kernel_of<std::uint8_t>(elementwise);
template transform_kernel transform_kernel_of<std::int32_t>(elementwise);
template transform_kernel transform_kernel_of<std::int64_t>(elementwise);

transform_kernel copy_kernel_of(type element) {
  return with_type<real_types>(
      element, []<class T>() { return kernel_on<elementwise::copy, copied_as<T>>(); });
}

transform_kernel_function* any_copy_kernel_of(type number) {
  return with_type<real_types>(
      number, []<class T>() -> transform_kernel_function* { return &copy_any<copied_as<T>>; });
}

transform_kernel_function* any_transform_kernel_of(elementwise what, type computation) {
  return with_type<accumulator_types>(computation,
                                      [&]<class C>() { return find<computed_t<C>>(what); });
}

move_kernel_function* fill_kernel(bool contiguous) {
  return contiguous ? &fill_vectors : &fill_any;
}

move_kernel_function* swap_kernel(bool alike) { return alike ? &swap_vectors : &swap_any; }

}  // namespace tally::backends::cuda
