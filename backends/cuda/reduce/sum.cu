// The kernels of sum.
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template <>
const reduce_kernel& reduce_kernel_of<reduction::sum>(type accumulator, type x) {
  return find_reduce_kernel<reduction::sum>(accumulator, x);
}

}  // namespace tally::backends::cuda
