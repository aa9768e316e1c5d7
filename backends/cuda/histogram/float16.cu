// This source compiles the kernels of histograms of float16 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<float16>(bin_rule rule, counting where) {
  return find_histogram_kernel<float16>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<float16>() {
  return find_histogram_weights_kernel<float16>();
}

}  // namespace tally::backends::cuda
