// This source compiles the kernel that computes several dot products of vectors of any types.
#include "backends/cuda/multi_dot/kernel.cuh"
#include "src/core/types/tables.hpp"

namespace tally::backends::cuda {

multi_dot_kernel* any_pairs_kernel_of(type accumulator) {
  return with_type<accumulator_types>(
      accumulator, []<class A>() -> multi_dot_kernel* { return &any_pairs_kernel<A>; });
}

}  // namespace tally::backends::cuda
