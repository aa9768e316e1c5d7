#include "backends/common/types/tables.hpp"
#include "backends/cuda/multi_dot/columns.cuh"
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

const one_type_kernels& floating_point_sums_kernels_of(type element) {
  static constexpr auto kernels = table_over<floating_point_sums_types>([]<class T>() {
    return made_one_type_kernels<values<reduction::sum, dot_result_t<T, T>, T>>();
  });
  return kernels[element];
}

}  // namespace tally::backends::cuda
