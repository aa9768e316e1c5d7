#include "backends/cuda/interval/kernel.cuh"

namespace tally::backends::cuda {

template vectors_kernel vectors_kernel_of<summand::value>(type, type);
template vectors_kernel vectors_kernel_of<summand::magnitude>(type, type);
template vectors_kernel vectors_kernel_of<summand::square>(type, type);

}  // namespace tally::backends::cuda
