#include "backends/common/types/tables.hpp"
#include "backends/cuda/multi_dot/columns.cuh"
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

any_type_kernels any_pairs_kernels(type accumulator, bool x_complex) {
  return with_type<accumulator_types>(accumulator, [&]<class A>() {
    return x_complex ? made_any_type_kernels<products_with_one<A, A, A>>()
                     : made_any_type_kernels<products_with_one<A, real_t<A>, A>>();
  });
}

any_type_kernels any_sums_kernels(type accumulator) {
  return with_type<accumulator_types>(
      accumulator, []<class A>() { return made_any_type_kernels<values<reduction::sum, A, A>>(); });
}

}  // namespace tally::backends::cuda
