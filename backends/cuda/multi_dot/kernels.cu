#include "backends/common/types/tables.hpp"
#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

const multi_dot_kernels& multi_dot_kernels_of(type element) {
  static constexpr auto kernels =
      table_over<multi_dot_types>([]<class T>() { return made_multi_dot_kernels<T>(); });
  return kernels[element];
}

}  // namespace tally::backends::cuda
