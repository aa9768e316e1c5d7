#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template <>
const reduce_kernel& reduce_kernel_of<reduction::nrm2>(type accumulator, type x) {
  return find_reduce_kernel<reduction::nrm2>(accumulator, x);
}

}  // namespace tally::backends::cuda
