#include "backends/cuda/exact/kernel.cuh"

namespace tally::backends::cuda {

template exact_kernel_pair exact_kernels<double, double>();
template exact_kernel_pair exact_kernels<double, no_vector>();
template exact_kernel_pair exact_kernels<double, squared>();

}  // namespace tally::backends::cuda
