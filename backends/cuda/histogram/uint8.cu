// This source compiles the kernels of histograms of uint8 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<std::uint8_t>(bin_rule rule, counting where) {
  return find_histogram_kernel<std::uint8_t>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<std::uint8_t>() {
  return find_histogram_weights_kernel<std::uint8_t>();
}

}  // namespace tally::backends::cuda
