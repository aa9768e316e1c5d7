// Rounding of exact sums: a warp collects a result's limbs, its first thread rounds.
#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"
#include "backends/cuda/exact/round.cuh"

#include <tally/numerics/exact_sum.hpp>

namespace tally::backends::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(warp) round_words_kernel(const round_job job) {
  constexpr int words_of_sum = exact_sum<T>::words;
  __shared__ std::int64_t words[2][words_of_sum];
  wait_for_launch_before();
  const unsigned all = job.parts * words_of_sum;
  const std::int64_t* const from = job.words + std::size_t{blockIdx.x} * all;
  // Few limbs are nonzero, and only those are read (tuning/exact.md: round_words).
  int low = exact_sum<T>::limbs, high = 0;
  for (unsigned i = threadIdx.x; i < all; i += warp) {
    const int limb = static_cast<int>(i % words_of_sum);
    const std::int64_t value = from[i];
    words[i / words_of_sum][limb] = value;
    if (value != 0 && limb < exact_sum<T>::limbs) {
      low = min(low, limb);
      high = max(high, limb + 1);
    }
  }
  let_launch_after_start();
  for (unsigned d = 1; d < warp; d *= 2) {
    low = min(low, __shfl_xor_sync(whole_warp, low, d));
    high = max(high, __shfl_xor_sync(whole_warp, high, d));
  }
  __syncwarp();
  if (threadIdx.x != 0) return;
  void* const to = static_cast<char*>(job.result) + std::size_t{blockIdx.x} * job.result_bytes;
  round_and_deliver<T>(job, words, low, high, to);
}

}  // namespace

const void* round_kernel(bool of_float) {
  return of_float ? reinterpret_cast<const void*>(&round_words_kernel<float>)
                  : reinterpret_cast<const void*>(&round_words_kernel<double>);
}

}  // namespace tally::backends::cuda
