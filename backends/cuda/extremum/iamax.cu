#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template const extremum_kernel& extremum_kernel_of<extreme::iamax>(type);

}  // namespace tally::backends::cuda
