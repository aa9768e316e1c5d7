#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template <>
const extremum_kernel& extremum_kernel_of<extreme::min>(type x) {
  return find_extremum_kernel<extreme::min>(x);
}
template <>
const extremum_kernel& extremum_kernel_of<extreme::max>(type x) {
  return find_extremum_kernel<extreme::max>(x);
}

}  // namespace tally::backends::cuda
