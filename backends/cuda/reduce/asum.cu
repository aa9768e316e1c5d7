// The kernels of asum.
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template <>
const reduce_kernel& reduce_kernel_of<reduction::asum>(type accumulator, type x) {
  return find_reduce_kernel<reduction::asum>(accumulator, x);
}

}  // namespace tally::backends::cuda
