// The exact grade; one launch a call.
//
// A warp adds its threads' levels (warp_sum.cuh) to limbs, in the layout of exact_sum; blocks add
// those up and add to scratch memory; the last one to do so rounds. Integer additions make the
// order irrelevant.
#pragma once

#include "backends/cuda/exact/round.cuh"
#include "backends/cuda/exact/tiles.cuh"
#include "backends/cuda/exact/warp_sum.cuh"

#include <tally/numerics/exact_sum.hpp>

#include <type_traits>

namespace tally::backends::cuda {

static_assert(exact_scratch::words(2, exact_sum<double>::words) <= 8192);

__device__ inline void add_to(std::uint64_t* word, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

/// Returns the next number, from 0. Whoever gets a later one sees what the caller wrote before, and
/// others before a barrier of the caller's block.
using ptx::next_number;

/// Returns word i of a sum of To from those of a sum of From without digits below it. All digits
/// are carried by one limb at once, which leaves limbs below 2^33.
template <class To, class From>
__device__ std::int64_t carried(const std::int64_t* words, int i) {
  using to = exact_sum<To>;
  using from = exact_sum<From>;
  constexpr int below = (to::lowest_exponent - from::lowest_exponent) / to::radix_bits;
  constexpr int bits = to::radix_bits;
  if (i >= to::limbs) return words[i - to::limbs + from::limbs] != 0;
  const auto at = [&](int limb) {
    return limb >= 0 && limb < from::limbs ? words[limb] : std::int64_t{0};
  };
  const int same = i + below;
  const std::int64_t carry = at(same - 1) >> bits;
  if (i < to::limbs - 1) return (at(same) & 0xffffffff) + carry;
  // The last limb also takes what a longer sum has above, modulo 2^64.
  const auto above = static_cast<std::uint64_t>(at(same + 1)) << bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(at(same) + carry) + above);
}

/// Adds all words to the caller's, or sends them to the host. Called by the whole block.
template <class To, class From, unsigned count>
__device__ void deliver_words(const exact_job& job, const std::int64_t (*words)[count]) {
  constexpr unsigned of_part = exact_sum<To>::words;
  for (unsigned i = threadIdx.x; i < job.parts * of_part; i += blockDim.x) {
    const std::int64_t value = carried<To, From>(words[i / of_part], static_cast<int>(i % of_part));
    if (job.tag != 0) {
      deliver(value, job.tag, static_cast<std::uint64_t*>(job.result) + 2 * i);
    } else if (value != 0) {
      add_to(static_cast<std::uint64_t*>(job.result) + i, value);
    }
  }
}

template <class Tile>
__global__ void __launch_bounds__(exact_warps* warp, exact_blocks)
    exact_kernel(const exact_job job) {
  using T = typename Tile::sum_of;
  constexpr int words_of_sum = exact_sum<T>::words;
  extern __shared__ double columns[];
  __shared__ std::int64_t words[exact_warps][words_of_sum];
  __shared__ int low, high;
  __shared__ bool last;
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  warp_sum<Tile> sum(columns + w * (column_bytes<Tile> / sizeof(double)), words[w], thread);
  if (threadIdx.x == 0) {
    low = exact_sum<T>::limbs;
    high = 0;
  }
  wait_for_launch_before();

  // Blocks with the same remainder work on the same part.
  const unsigned part = job.parts == 1 ? 0 : blockIdx.x % job.parts;
  const std::int64_t all_warps = std::int64_t{gridDim.x / job.parts} * warps;
  constexpr int in_tile = static_cast<int>(warp) * Tile::per_load * Tile::loads;
  const std::int64_t tiles = (job.n + in_tile - 1) / in_tile * (Tile::products ? 1 : job.products);
  Tile tile(job);
  std::int64_t first = (std::int64_t{blockIdx.x / job.parts} * warps + w) * job.tiles;
#pragma unroll 1
  while (first < tiles) {
    unsigned next = 0;
    if (job.dynamic && thread == 0) {
      next = atomicAdd(reinterpret_cast<unsigned*>(job.scratch + exact_scratch::batch +
                                                   part * exact_scratch::apart),
                       1u);
    }
    const int some = static_cast<int>(first + job.tiles < tiles ? job.tiles : tiles - first);
    std::int64_t after = 0;
    do {
#pragma unroll 1
      for (int i = 0; i < some; ++i) {
        tile.load(job, first + i, thread);
        sum.add(tile, i);
      }
      after = job.dynamic ? (all_warps + __shfl_sync(whole_warp, next, 0)) * job.tiles
                          : first + all_warps * job.tiles;
    } while (sum.turn(static_cast<int>(job.tiles), after >= tiles));
    first = after;
  }
  let_launch_after_start();
  __syncthreads();

  std::uint64_t* const sums = job.scratch + exact_scratch::sums;
  for (int i = threadIdx.x; i < words_of_sum; i += blockDim.x) {
    std::int64_t total = 0;
    for (unsigned j = 0; j < warps; ++j) total += words[j][i];
    if (gridDim.x == 1) {
      words[0][i] = total;
      if (total != 0 && i < exact_sum<T>::limbs) {
        atomicMin(&low, i);
        atomicMax(&high, i + 1);
      }
    } else if (total != 0) {
      add_to(sums + (part * words_of_sum + i) * exact_scratch::apart, total);
    }
  }
  __syncthreads();
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) last = next_number(job.scratch + exact_scratch::ticket) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    for (unsigned i = threadIdx.x; i < job.parts * words_of_sum; i += blockDim.x) {
      std::uint64_t* const from = sums + i * exact_scratch::apart;
      const auto total =
          static_cast<std::int64_t>(__ldcg(reinterpret_cast<unsigned long long*>(from)));
      const int limb = static_cast<int>(i % words_of_sum);
      words[i / words_of_sum][limb] = total;
      if (total == 0) continue;
      *from = 0;
      if (limb < exact_sum<T>::limbs) {
        atomicMin(&low, limb);
        atomicMax(&high, limb + 1);
      }
    }
    if (threadIdx.x < 3)
      job.scratch[threadIdx.x * exact_scratch::apart] = 0;  // the sums are 0 already
    __syncthreads();
  }
  if (job.to_words) {
    if (job.to_float) {
      deliver_words<float, T>(job, words);
    } else {
      deliver_words<double, T>(job, words);
    }
    if (threadIdx.x == 0) count_as_ended(job.ended);
    return;
  }
  if (threadIdx.x == 0) {
    round_and_deliver<T>(job, words, low, high, job.result);
    count_as_ended(job.ended);
  }
}

template <class Tile>
exact_kernel_choice exact_kernel_of() {
  return {reinterpret_cast<const void*>(&exact_kernel<Tile>),
          static_cast<int>(warp) * Tile::per_load * Tile::loads, Tile::per_load, column_bytes<Tile>,
          exact_sum<typename Tile::sum_of>::words};
}

/// A thread loads 128 bytes (160 for bool and float) at once; they fit what shared memory leaves of
/// L1 (tuning/exact.md: exact_kernels).
template <class X, class Y>
exact_kernel_pair exact_kernels() {
  if constexpr (std::is_same_v<X, any_vector>) {
    return {exact_kernel_of<any_tile>(), exact_kernel_of<any_tile>()};
  } else if constexpr (std::is_same_v<X, weighted_vector>) {
    return {exact_kernel_of<weighted_tile>(), exact_kernel_of<weighted_tile>()};
  } else {
    constexpr bool has_bools = std::is_same_v<X, bool>;
    constexpr int size = has_bools ? sizeof(float) : sizeof(X);
    constexpr int vectors = std::is_same_v<X, Y> ? 2 : 1;
    constexpr int count = 128 / (vectors * size), least = 16 / size;
    return {exact_kernel_of<vector_tile<X, Y, count>>(),
            exact_kernel_of<vector_tile<X, Y, (least > 4 ? least : 4)>>()};
  }
}

}  // namespace tally::backends::cuda
