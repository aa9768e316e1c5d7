#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template const extremum_kernel& extremum_kernel_of<extreme::min>(type);
template const extremum_kernel& extremum_kernel_of<extreme::max>(type);

}  // namespace tally::backends::cuda
