// Kernels that short functions share.
#include "backends/cuda/transform/kernel.cuh"

namespace tally::backends::cuda {
namespace {

template <class F>
auto with_count(int inputs, const F& f) {
  return inputs == 3   ? f.template operator()<3>()
         : inputs == 2 ? f.template operator()<2>()
                       : f.template operator()<1>();
}

}  // namespace

transform_kernel short_kernel_of(int inputs, type element) {
  return with_type(element, [&]<class T>() -> transform_kernel {
    if constexpr (is_complex_v<T> || std::is_integral_v<T>) {
      return {};
    } else {
      return with_count(inputs, []<int count>() {
        using function = short_elements<count, T>;
        constexpr unsigned max_loads = count == 1 ? max_loads_of_short<T> : 1;
        static constexpr transform_case cut = {elementwise::inv, true, 16, max_loads};
        transform_kernel found;
        found.cut = &cut;
        found.vectors[0] = &transform_vectors<function, 1, false>;
        if constexpr (max_loads == 2) found.vectors[1] = &transform_vectors<function, 2, false>;
        found.shifted = &transform_vectors<function, loads_of_shifted, true>;
        return found;
      });
    }
  });
}

transform_kernel_function* any_short_kernel_of(int inputs, type computation) {
  return with_type<accumulator_types>(computation, [&]<class C>() {
    return with_count(inputs, []<int count>() -> transform_kernel_function* {
      return &short_any<count, computed_t<C>>;
    });
  });
}

}  // namespace tally::backends::cuda
