// Sums of several vectors in one launch, left unfinished: nodes of the order's tree over a longer
// vector.
//
// Promise: each sum has the bits of the order contract, as in device/sum_kernel.cuh, whose code
// adds it up. The blocks of a vector are adjacent, and its last one waits for those before it, so
// it can't deadlock, for the reason given in device/hand_over.cuh.
#pragma once

#include "backends/cuda/interval/kernels.hpp"
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {

/// Returns the numbers of a sum that is left unfinished.
template <class A>
__device__ complex_number<real_t<A>> numbers_of(const reduce_sum<A>& sum, const vectors_job&) {
  if constexpr (is_complex_v<A>) {
    return {canonical(sum.re), canonical(sum.im)};
  } else {
    return {canonical(sum.value), A{}};
  }
}
/// Does the same of scaled squares. Which way they are scaled is decided by the sum of the whole
/// vector: where that is small, so is this one.
template <class A>
__device__ complex_number<real_t<A>> numbers_of(const norm_sum<A>& sum, const vectors_job& job) {
  const auto scaled = [&](const auto& s) {
    return canonical(job.scaled_up ? s.scaled : s.scaled_down());
  };
  if constexpr (is_complex_v<A>) {
    return {scaled(sum.re), scaled(sum.im)};
  } else {
    return {scaled(sum), A{}};
  }
}

template <class A, class Share>
__global__ void __launch_bounds__(max_warps* warp, 2)
    vectors_kernel_for(const __grid_constant__ vectors_job job) {
  unsigned v = 0;
#pragma unroll
  for (unsigned step = most_vectors / 2; step > 0; step /= 2) {
    if (v + step < job.vectors && job.list[v + step].first_block <= blockIdx.x) v += step;
  }
  const listed_vector& of = job.list[v];
  const unsigned end = v + 1 < job.vectors ? job.list[v + 1].first_block : gridDim.x;
  sum_job one;
  one.x = of.x;
  one.n = of.n;
  one.x_increment = of.increment;
  one.x_type = job.x_type;
  one.tiles = job.tiles;
  one.words = job.words + of.first_word;
  typename Share::Terms::sum total;
  if (add_in_blocks<Share>(one, blockIdx.x - of.first_block, end - of.first_block, total)) {
    constexpr unsigned parts = is_complex_v<A> ? 2 : 1;
    const std::size_t bytes = parts * sizeof(real_t<A>) * (job.tag == 0 ? 1 : 2);
    deliver<parts>(numbers_of(total, job), job.tag, static_cast<char*>(job.sums) + v * bytes);
    count_as_ended(job.ended);
  }
}

/// Says which kernels sum these terms.
constexpr reduction reduction_of(summand what) {
  return what == summand::value       ? reduction::sum
         : what == summand::magnitude ? reduction::asum
                                      : reduction::nrm2;
}

template <summand what, class A>
vectors_kernel made_vectors_kernel(type x) {
  constexpr reduction terms = reduction_of(what);
  vectors_kernel made{nullptr, &vectors_kernel_for<A, any_share<values<terms, A, A>>>,
                      words_of<reduce_sum<A>>};
  using types =
      type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
  if (is_in<types>(x)) {
    with_type<types>(x, [&]<class X>() {
      if constexpr (std::is_same_v<A, dot_result_t<X, X>>) {
        made.contiguous = &vectors_kernel_for<A, contiguous_share<values<terms, A, X>>>;
      }
    });
  }
  return made;
}

/// The accumulators of an interval's sums.
using interval_accumulators = type_list<float, double, std::complex<float>, std::complex<double>>;

/// Makes what kernels.hpp declares.
template <summand what>
vectors_kernel find_vectors_kernel(type accumulator, type x) {
  return with_type<interval_accumulators>(
      accumulator, [&]<class A>() { return made_vectors_kernel<what, A>(x); });
}

}  // namespace tally::backends::cuda
