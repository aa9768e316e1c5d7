// This source compiles the kernels of several dot products of real vectors.
#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

template <>
multi_dot_kernels multi_dot_kernels_of<float>() {
  return made_multi_dot_kernels<float>();
}
template <>
multi_dot_kernels multi_dot_kernels_of<double>() {
  return made_multi_dot_kernels<double>();
}

}  // namespace tally::backends::cuda
