// This source compiles the kernels of histograms of bool samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<bool>(bin_rule rule, counting where) {
  return find_histogram_kernel<bool>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<bool>() {
  return find_histogram_weights_kernel<bool>();
}

}  // namespace tally::backends::cuda
