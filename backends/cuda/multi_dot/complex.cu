// This source compiles the kernels of several dot products of complex vectors.
#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<float>>() {
  return made_multi_dot_kernels<std::complex<float>>();
}
template <>
multi_dot_kernels multi_dot_kernels_of<std::complex<double>>() {
  return made_multi_dot_kernels<std::complex<double>>();
}

}  // namespace tally::backends::cuda
