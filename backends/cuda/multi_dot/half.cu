// This source compiles the kernels of several dot products of half-precision vectors.
#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

template <>
multi_dot_kernels multi_dot_kernels_of<float16>() {
  return made_multi_dot_kernels<float16>();
}
template <>
multi_dot_kernels multi_dot_kernels_of<bfloat16>() {
  return made_multi_dot_kernels<bfloat16>();
}

}  // namespace tally::backends::cuda
