// Several dot products of vectors of any types.
#include "backends/cuda/multi_dot_kernel.cuh"
#include "backends/pairs.hpp"

namespace tally::backends::cuda {

multi_dot_kernel* any_pairs_kernel_of(type accumulator) {
  return with_accumulator(accumulator,
                          []<class A>() -> multi_dot_kernel* { return &any_pairs_kernel<A>; });
}

}  // namespace tally::backends::cuda
