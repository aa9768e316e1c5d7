#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template const reduce_kernel& reduce_kernel_of<reduction::sum>(type, type);
template const reduce_kernel& reduce_kernel_of<reduction::asum>(type, type);

}  // namespace tally::backends::cuda
