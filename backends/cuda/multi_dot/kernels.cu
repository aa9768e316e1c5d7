#include "backends/common/types/tables.hpp"
#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

const multi_dot_kernels& multi_dot_kernels_of(type element) {
  static constexpr auto kernels =
      table_over<multi_dot_types>([]<class T>() { return made_multi_dot_kernels<T>(); });
  return kernels[element];
}

multi_dot_kernel* any_pairs_kernel(type accumulator, bool x_complex) {
  return with_type<accumulator_types>(accumulator, [&]<class A>() -> multi_dot_kernel* {
    return x_complex ? &pairs_kernel<any_part<products<A, A, A>>>
                     : &pairs_kernel<any_part<products<A, real_t<A>, A>>>;
  });
}

}  // namespace tally::backends::cuda
