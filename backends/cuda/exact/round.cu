// Rounding of exact sums: a warp per result.
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
  for (unsigned i = threadIdx.x; i < all; i += warp)
    words[i / words_of_sum][i % words_of_sum] = from[i];
  let_launch_after_start();
  __syncwarp();
  void* const to = static_cast<char*>(job.result) + std::size_t{blockIdx.x} * job.result_bytes;
  round_and_deliver<T>(job, words, static_cast<int>(threadIdx.x), to);
}

}  // namespace

const void* round_kernel(bool of_float) {
  return of_float ? reinterpret_cast<const void*>(&round_words_kernel<float>)
                  : reinterpret_cast<const void*>(&round_words_kernel<double>);
}

}  // namespace tally::backends::cuda
