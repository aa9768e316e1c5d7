#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template <>
const reduce_kernel& reduce_kernel_of<reduction::sum>(type accumulator, type x) {
  return find_reduce_kernel<reduction::sum>(accumulator, x);
}
template <>
const reduce_kernel& reduce_kernel_of<reduction::asum>(type accumulator, type x) {
  return find_reduce_kernel<reduction::asum>(accumulator, x);
}

}  // namespace tally::backends::cuda
