// This source compiles the kernels of histograms of float32 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<float>(bin_rule rule, counting where) {
  return find_histogram_kernel<float>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<float>() {
  return find_histogram_weights_kernel<float>();
}

}  // namespace tally::backends::cuda
