// This source compiles the kernels of histograms of float64 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<double>(bin_rule rule, counting where) {
  return find_histogram_kernel<double>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<double>() {
  return find_histogram_weights_kernel<double>();
}

}  // namespace tally::backends::cuda
