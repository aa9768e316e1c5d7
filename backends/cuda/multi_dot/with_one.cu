#include "backends/common/types/tables.hpp"
#include "backends/cuda/multi_dot/columns.cuh"

namespace tally::backends::cuda {

const one_type_kernels& with_one_kernels_of(type element) {
  static constexpr auto kernels = table_over<with_one_types>([]<class T>() {
    return made_one_type_kernels<products_with_one<dot_result_t<T, T>, T, T>>();
  });
  return kernels[element];
}

}  // namespace tally::backends::cuda
