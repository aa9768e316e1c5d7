// This source compiles the kernels of several dot products of complex vectors, and of vectors of
// any types.
#include "backends/cuda/multi_dot/kernel.cuh"
#include "src/core/types/tables.hpp"

namespace tally::backends::cuda {

template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<float>>() {
  return made_multi_dot_kernels<std::complex<float>>();
}
template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<double>>() {
  return made_multi_dot_kernels<std::complex<double>>();
}
multi_dot_kernel* any_pairs_kernel_of(type accumulator) {
  return with_type<accumulator_types>(
      accumulator, []<class A>() -> multi_dot_kernel* { return &any_pairs_kernel<A>; });
}

}  // namespace tally::backends::cuda
