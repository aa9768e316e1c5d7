// Kernels that join sums of several devices: a block collects one sum, and its first thread makes
// the result.
#include "backends/cuda/joined/kernels.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/exact/round.cuh"
#include "backends/cuda/joined/exchange.cuh"

#include <tally/numerics/exact_sum.hpp>

namespace tally::backends::cuda {
namespace {

/// Nodes in shared memory at a time.
inline constexpr unsigned nodes_at_once = 128;

template <summand what, class A>
__global__ void __launch_bounds__(join_threads)
    join_nodes_kernel_of(const __grid_constant__ join_job job) {
  using Sum = node_sum<what, A>;
  constexpr unsigned words = words_per<Sum>;
  __shared__ std::uint32_t nodes[nodes_at_once][words];
  __shared__ int additions[nodes_at_once];
  __shared__ std::uint32_t held[joined_nodes<Sum>::max_held][words];
  wait_for_launch_before();
  const unsigned sum = blockIdx.x, sums = gridDim.x;
  const bool is_alone = job.through.ranks == 0;
  const exchange with(job.through, sum);
  const auto* const own = static_cast<const std::uint32_t*>(job.nodes);
  const auto word_of = [&](unsigned place, unsigned w) {
    return __ldcg(own + (std::size_t{place} * sums + sum) * words + w);
  };
  const unsigned rank = static_cast<unsigned>(job.through.rank);
  if (!is_alone) {
    for (unsigned i = threadIdx.x; i < job.nodes_per_rank * words; i += blockDim.x) {
      with.store(i, word_of(i / words, i % words));
    }
  }

  int count = 0;
  const auto read = [](const std::uint32_t (&from)[words]) {
    Sum s;
    memcpy(&s, from, sizeof s);
    return s;
  };
  unsigned first = 0;
  do {
    const unsigned some = min(nodes_at_once, job.count - first);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < some * words; i += blockDim.x) {
      const join_step step = job.steps[first + i / words];
      const unsigned w = i % words, place = static_cast<unsigned>(step.node);
      if (w == 0) additions[i / words] = step.additions;
      const unsigned of = is_alone ? 0 : place / job.nodes_per_rank;
      const unsigned of_rank = is_alone ? place : place % job.nodes_per_rank;
      nodes[i / words][w] = is_alone || of == rank
                                ? word_of(of_rank, w)
                                : with.wait(static_cast<int>(of), of_rank * words + w);
    }
    // Devices without a node are waited for, too (exchange.cuh), by the last threads, which bring
    // fewer nodes.
    const int other = static_cast<int>(blockDim.x - 1 - threadIdx.x);
    if (first == 0 && other < job.through.ranks && other != job.through.rank) with.wait(other, 0);
    __syncthreads();
    for (unsigned i = 0; threadIdx.x == 0 && i < some; ++i) {
      Sum s = read(nodes[i]);
      for (int k = additions[i]; k > 0; --k) s = read(held[--count]) + s;
      memcpy(held[count++], &s, sizeof s);
    }
    first += some;
  } while (first < job.count);
  let_launch_after_start();
  if (!is_alone) with.end();
  if (threadIdx.x != 0) return;
  const Sum all = count > 0 ? read(held[0]) : Sum{};
  deliver<result_parts<what, A>>(finish_node<what, A>(all, job.conjugated), job.tag,
                                 static_cast<char*>(job.results) + sum * job.result_bytes);
}

template <class T>
__global__ void __launch_bounds__(join_threads)
    join_words_kernel_of(const __grid_constant__ join_job job) {
  constexpr int words_of_sum = exact_sum<T>::words;
  __shared__ std::int64_t words[2][words_of_sum];
  wait_for_launch_before();
  const unsigned all = job.parts * words_of_sum;
  const exchange with(job.through, blockIdx.x);
  std::int64_t* const own = job.words + std::size_t{blockIdx.x} * all;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
    const auto value =
        static_cast<std::uint64_t>(__ldcg(reinterpret_cast<const long long*>(own + i)));
    with.store(2 * i, static_cast<std::uint32_t>(value));
    with.store(2 * i + 1, static_cast<std::uint32_t>(value >> 32));
    words[i / words_of_sum][i % words_of_sum] = static_cast<std::int64_t>(value);
    own[i] = 0;
  }
  for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {  // those stored above, by the same
                                                              // thread
    auto value = static_cast<std::uint64_t>(words[i / words_of_sum][i % words_of_sum]);
    for (int r = 0; r < job.through.ranks; ++r) {
      if (r == job.through.rank) continue;
      value += with.wait(r, 2 * i) | std::uint64_t{with.wait(r, 2 * i + 1)} << 32;
    }
    words[i / words_of_sum][i % words_of_sum] = static_cast<std::int64_t>(value);
  }
  let_launch_after_start();
  with.end();
  __syncthreads();
  if (threadIdx.x >= warp) return;
  round_and_deliver<T>(job, words, static_cast<int>(threadIdx.x),
                       static_cast<char*>(job.results) + blockIdx.x * job.result_bytes);
}

}  // namespace

join_kernel* join_nodes_kernel(summand what, type accumulator) {
  join_kernel* kernel = nullptr;
  with_node(what, accumulator,
            [&]<summand terms, class A>() { kernel = &join_nodes_kernel_of<terms, A>; });
  return kernel;
}

join_kernel* join_words_kernel(bool of_float) {
  return of_float ? &join_words_kernel_of<float> : &join_words_kernel_of<double>;
}

}  // namespace tally::backends::cuda
