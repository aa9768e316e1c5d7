#include "backends/cuda/interval/kernel.cuh"

namespace tally::backends::cuda {

template <>
vectors_kernel vectors_kernel_of<summand::square>(type accumulator, type x) {
  return find_vectors_kernel<summand::square>(accumulator, x);
}

vectors_kernel scaled_squares_kernel_of(type accumulator) {
  return with_type<interval_accumulators>(accumulator, []<class A>() {
    return vectors_kernel{nullptr, &vectors_kernel_for<any_part<squares<A, A>>>, lanes_of_any,
                          words_per<norm_sum<A>>};
  });
}

}  // namespace tally::backends::cuda
