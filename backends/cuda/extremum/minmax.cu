#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template <>
const extremum_kernel& extremum_kernel_of<extreme::minmax>(type x) {
  return find_extremum_kernel<extreme::minmax>(x);
}

}  // namespace tally::backends::cuda
