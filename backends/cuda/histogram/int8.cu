// This source compiles the kernels of histograms of int8 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<std::int8_t>(bin_rule rule, counting where) {
  return find_histogram_kernel<std::int8_t>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<std::int8_t>() {
  return find_histogram_weights_kernel<std::int8_t>();
}

}  // namespace tally::backends::cuda
