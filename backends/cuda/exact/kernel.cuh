// The exact grade; one launch a call.
//
// A warp adds its threads' levels (warp_sum.cuh) to limbs, in the layout of exact_sum; blocks add
// those up and add to scratch memory, from where the last-numbered one takes and rounds them.
// Integer additions make the order irrelevant. (No deadlock: see device/hand_over.cuh.)
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

/// Words of sums in scratch memory. Their upper bits count what blocks add: a sum is complete once
/// its counts are, without a fence or a ticket (tuning/exact.md: words that count).
namespace counting {
/// Bits of the sum, with its sign. A block's limb, carried once, is below 2^32 + 2^31.
inline constexpr int value_bits = 44;
static_assert(((std::uint64_t{1} << 32) + (std::uint64_t{1} << 31)) * max_exact_blocks <
              std::uint64_t{1} << (value_bits - 1));
/// Words that a warp of a block adds; it counts `warp` in all of them.
inline constexpr unsigned words_of_warp = warp - 1;

__device__ inline std::int64_t value_of(std::uint64_t word) {
  return static_cast<std::int64_t>(word << (64 - value_bits)) >> (64 - value_bits);
}
}  // namespace counting

/// Returns the sum of the block's words i.
template <unsigned count>
__device__ std::int64_t sum_of_warps(const std::int64_t (*words)[count], int i) {
  std::int64_t sum = 0;
#pragma unroll
  for (unsigned j = 0; j < exact_warps; ++j) sum += j < blockDim.x / warp ? words[j][i] : 0;
  return sum;
}

/// Adds the sum of all warps' words. Called by the whole block.
template <class T, unsigned count>
__device__ void add_to_scratch(const std::int64_t (*words)[count], std::uint64_t* sums,
                               int thread) {
  constexpr int limbs = exact_sum<T>::limbs;
  const unsigned warps = blockDim.x / warp;
  for (unsigned first = threadIdx.x / warp * counting::words_of_warp; first < count;
       first += warps * counting::words_of_warp) {
    // The first thread has the word below, whose carry the next one takes.
    const int i = static_cast<int>(first) + thread - 1;
    std::int64_t value = 0, carry = 0;
    if (i >= 0 && i < static_cast<int>(count)) {
      value = sum_of_warps(words, i);
      if (i < limbs - 1) {
        carry = value >> 32;
        value &= 0xffffffff;
      }
    }
    value += __shfl_up_sync(whole_warp, carry, 1);
    const unsigned others = __ballot_sync(whole_warp, thread > 1 && value != 0);
    if (thread == 1 || (thread > 1 && value != 0)) {
      const auto counts = static_cast<std::uint64_t>(thread == 1 ? warp - __popc(others) : 1);
      add_to(sums + i * exact_scratch::apart,
             static_cast<std::int64_t>((counts << counting::value_bits) +
                                       static_cast<std::uint64_t>(value)));
    }
  }
}

/// Waits for the sum of all blocks and empties its words. Called by a warp.
template <class T, unsigned count>
__device__ void take_from_scratch(std::uint64_t* sums, unsigned blocks,
                                  std::int64_t (&words)[count], int thread) {
  constexpr unsigned per_thread = (count + warp - 1) / warp;
  constexpr unsigned chunks = (count + counting::words_of_warp - 1) / counting::words_of_warp;
  std::uint64_t word[per_thread] = {};
  unsigned counts;
  do {
    counts = 0;
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k) {
      const unsigned i = k * warp + thread;
      if (i < count) word[k] = ptx::load_of_device(sums + i * exact_scratch::apart);
    }
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k) {
      counts += static_cast<unsigned>(
          (word[k] - static_cast<std::uint64_t>(counting::value_of(word[k]))) >>
          counting::value_bits);
    }
  } while (sum_of_warp(counts) != chunks * warp * blocks);
#pragma unroll
  for (unsigned k = 0; k < per_thread; ++k) {
    const unsigned i = k * warp + thread;
    if (i >= count) break;
    words[i] = counting::value_of(word[k]);
    if (word[k] != 0) sums[i * exact_scratch::apart] = 0;
  }
}

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
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  warp_sum<Tile> sum(columns + w * (column_bytes<Tile> / sizeof(double)), words[w], thread);
  wait_for_launch_before();
  if (job.leaves_room) let_launch_after_start();

  // Blocks with the same remainder work on the same part.
  const unsigned complex = job.parts - 1;  // 0 or 1
  const unsigned part = blockIdx.x & complex;
  const std::int64_t all_warps = std::int64_t{gridDim.x >> complex} * warps;
  constexpr int in_tile = static_cast<int>(warp) * Tile::per_load * Tile::loads;
  const std::int64_t tiles = (job.n + in_tile - 1) / in_tile * (Tile::products ? 1 : job.products);
  Tile tile(job);
  std::int64_t first = (std::int64_t{blockIdx.x >> complex} * warps + w) * job.tiles;
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

  // The sums of all blocks, in place of the first warp's columns.
  auto* const sums = reinterpret_cast<std::int64_t (*)[words_of_sum]>(columns);
  static_assert(2 * sizeof *sums <= column_bytes<Tile>);
  if (gridDim.x == 1) {
    for (int i = threadIdx.x; i < words_of_sum; i += blockDim.x) {
      sums[0][i] = sum_of_warps(words, i);
    }
    __syncthreads();
  } else {
    std::uint64_t* const scratch = job.scratch + exact_scratch::sums;
    constexpr unsigned words_of_part = words_of_sum * exact_scratch::apart;
    if (job.dynamic) __threadfence();  // batches before words: both are emptied at the end
    add_to_scratch<T>(words, scratch + part * words_of_part, thread);
    if (blockIdx.x != gridDim.x - 1) return;
    if (w == 0) {
      for (unsigned i = 0; i < job.parts; ++i) {
        take_from_scratch<T>(scratch + i * words_of_part, gridDim.x >> complex, sums[i], thread);
      }
      if (job.dynamic) {
        __threadfence();
        if (thread < 2) job.scratch[exact_scratch::batch + thread * exact_scratch::apart] = 0;
      }
      __syncwarp();
    }
    if (job.to_words) __syncthreads();
  }
  if (job.to_words) {
    if (job.to_float) {
      deliver_words<float, T>(job, sums);
    } else {
      deliver_words<double, T>(job, sums);
    }
    if (threadIdx.x == 0) count_as_ended(job.ended);
    return;
  }
  if (w > 0) return;
  round_and_deliver<T>(job, sums, thread, job.result);
  if (thread == 0) count_as_ended(job.ended);
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
    constexpr int count = 128 / (vectors * size), min_count = 16 / size;
    return {exact_kernel_of<vector_tile<X, Y, count>>(),
            exact_kernel_of<vector_tile<X, Y, (min_count > 4 ? min_count : 4)>>()};
  }
}

}  // namespace tally::backends::cuda
