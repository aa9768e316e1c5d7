#include "backends/cuda/interval/kernel.cuh"

namespace tally::backends::cuda {

template <>
vectors_kernel vectors_kernel_of<summand::square>(type accumulator, type x) {
  return find_vectors_kernel<summand::square>(accumulator, x);
}

}  // namespace tally::backends::cuda
