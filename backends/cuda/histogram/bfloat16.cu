// This source compiles the kernels of histograms of bfloat16 samples.
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

template <>
const void* histogram_kernel_of<bfloat16>(bin_rule rule, counting where) {
  return find_histogram_kernel<bfloat16>(rule, where);
}
template <>
const void* histogram_weights_kernel_of<bfloat16>() {
  return find_histogram_weights_kernel<bfloat16>();
}

}  // namespace tally::backends::cuda
