// The exact grade of any operands.
#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template <>
exact_kernel_pair exact_kernels<any_vector, any_vector>() {
  return {exact_kernel_of<any_tile>(), exact_kernel_of<any_tile>()};
}

}  // namespace tally::backends::cuda
