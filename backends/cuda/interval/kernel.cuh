// Nodes of the order's tree over a longer vector: sums of several vectors in one launch.
//
// Promise: the bits of the order contract (device/sum_kernel.cuh). A vector's blocks are adjacent
// and its last one waits for the others: no deadlock (device/hand_over.cuh).
#pragma once

#include "backends/cuda/interval/kernels.hpp"
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

template <class Share>
__global__ void __launch_bounds__(max_warps* warp, 2)
    vectors_kernel_for(const __grid_constant__ vectors_job job) {
  unsigned v = 0;
#pragma unroll
  for (unsigned step = max_vectors / 2; step > 0; step /= 2) {
    if (v + step < job.vectors && job.first_block[v + step] <= blockIdx.x) v += step;
  }
  const listed_vector& of = job.list[v];
  const unsigned first = job.first_block[v], blocks = job.first_block[v + 1] - first;
  sum_job one;
  one.x = of.x;
  one.y = of.y;
  one.n = of.n;
  one.x_increment = of.x_increment;
  one.y_increment = of.y_increment;
  one.x_type = job.x_type;
  one.y_type = job.y_type;
  one.exchanged = job.swapped;
  one.tiles = job.tiles;
  one.words = job.words + of.first_word;
  typename Share::Terms::sum total;
  if (add_in_blocks<Share>(one, blockIdx.x - first, blocks, total)) {
    const auto put = [&](const auto& node) {
      const std::size_t bytes = sizeof node * (job.tag == 0 ? 1 : 2);
      deliver(node, job.tag, static_cast<char*>(job.sums) + v * bytes);
    };
    if constexpr (has_node<typename Share::Terms>) {
      put(Share::Terms::node(total, one));
    } else {
      put(total);
    }
    count_as_ended(job.ended);
  }
}

/// Types with a kernel of their own, and accumulators.
using interval_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using interval_accumulators = type_list<float, double, std::complex<float>, std::complex<double>>;

/// Returns `any`'s kernel and, if `Terms<X>` have this accumulator, that of contiguous vectors.
template <class A, template <class> class Terms, class Any>
vectors_kernel with_contiguous(type x) {
  vectors_kernel made{nullptr, &vectors_kernel_for<any_part<Any>>, lanes_of_any,
                      words_per<typename Any::sum>};
  if (!is_in<interval_types>(x)) return made;
  with_type<interval_types>(x, [&]<class X>() {
    if constexpr (std::is_same_v<A, dot_result_t<X, X>>) {
      made.contiguous = &vectors_kernel_for<contiguous_part<Terms<X>>>;
      made.lanes = Terms<X>::lanes;
    }
  });
  return made;
}

constexpr reduction reduction_of(summand what) {
  return what == summand::value       ? reduction::sum
         : what == summand::magnitude ? reduction::asum
                                      : reduction::nrm2;
}

template <summand what, class A>
struct terms_for {
  template <class X>
  using of =
      std::conditional_t<what == summand::square, squares<A, X>, values<reduction_of(what), A, X>>;
};

template <summand what>
vectors_kernel vectors_kernel_of(type accumulator, type x) {
  return with_type<interval_accumulators>(accumulator, [&]<class A>() {
    using terms = terms_for<what, A>;
    return with_contiguous<A, terms::template of, typename terms::template of<A>>(x);
  });
}

}  // namespace tally::backends::cuda
