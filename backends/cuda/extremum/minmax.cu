#include "backends/cuda/extremum/kernel.cuh"

namespace tally::backends::cuda {

template const extremum_kernel& extremum_kernel_of<extreme::minmax>(type);

}  // namespace tally::backends::cuda
