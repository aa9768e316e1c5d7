// The kernels of min.
#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template <>
const extremum_kernel& extremum_kernel_of<extreme::min>(type x) {
  return find_extremum_kernel<extreme::min>(x);
}

}  // namespace tally::backends::cuda
