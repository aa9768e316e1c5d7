#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template exact_kernel_pair exact_kernels<float, float>();
template exact_kernel_pair exact_kernels<float, no_vector>();
template exact_kernel_pair exact_kernels<float, squared>();

}  // namespace tally::backends::cuda
