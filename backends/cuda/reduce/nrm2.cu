#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template const reduce_kernel& reduce_kernel_of<reduction::nrm2>(type, type);

}  // namespace tally::backends::cuda
