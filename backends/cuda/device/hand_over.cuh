// Addition of a block's warps, and of all blocks in the last one.
//
// Blocks hand over sums as tagged words, which the last-numbered block polls (words.hpp). No
// deadlock: it waits for blocks that wait for nobody, and blocks start in order. Even otherwise an
// SM has room beside the waiting one, which the stream's next launch takes only after all blocks
// have started.
#pragma once

#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/device/words.hpp"

#include <cstring>

namespace tally::backends::cuda {

/// Warps' sums that a thread adds up.
inline constexpr unsigned sums_at_once = 8;

template <class Sum>
using round_sums = uninitialised<Sum, max_tiles * max_warps>;

/// Clears what a small block has no warps for. Called by a warp before the first round.
template <class Sum>
__device__ void clear_round(Sum* sums, unsigned warps, unsigned thread) {
  if (thread >= warps && thread < sums_at_once) sums[thread] = {};
}

/// Pre: `count` is a power of two. Called by a warp.
template <class Sum>
__device__ Sum add_round(const Sum* sums, unsigned count, unsigned thread) {
  Sum adjacent[sums_at_once];
#pragma unroll
  for (unsigned i = 0; i < sums_at_once; ++i) {
    adjacent[i] = sums[thread % max_tiles * sums_at_once + i];
  }
  return add_across_threads<max_tiles * max_warps / sums_at_once>(add_within_thread(adjacent),
                                                                  count / sums_at_once);
}

/// Words per warp: the sums of a span of blocks.
inline constexpr unsigned span_words = warp * words_at_once;
inline constexpr unsigned max_spans = scratch_words / span_words;
static_assert(max_spans <= warp);

template <class Sum>
__device__ unsigned spans_of_blocks(unsigned blocks) {
  return (blocks * words_per<Sum> + span_words - 1) / span_words;
}

/// Puts empty sums behind the last block's.
template <class Sum>
__device__ void fill_last_words(std::uint64_t* words, unsigned blocks, unsigned thread) {
  if (thread < -blocks % (words_at_once / words_per<Sum>)) {
    put(words + (blocks + thread) * words_per<Sum>, Sum());
  }
}

template <class Sum>
__device__ Sum add_span(std::uint64_t* words, unsigned blocks, unsigned span, unsigned thread) {
  const unsigned first = span * span_words + thread * words_at_once;
  const bool takes = first < blocks * words_per<Sum>;
  std::uint32_t payload[words_at_once];
  take(words + (takes ? first : span * span_words), takes, payload);
  Sum s[words_at_once / words_per<Sum>];
  memcpy(s, payload, sizeof payload);
  return add_across_threads<warp>(add_within_thread(s), warp);
}

/// Adds up the blocks' sums in the last block; its first warp gets the sum.
template <class Sum>
__device__ Sum add_blocks(std::uint64_t* words, unsigned blocks, unsigned thread, unsigned w) {
  __shared__ uninitialised<Sum, max_spans> sums;
  if (w == 0) fill_last_words<Sum>(words, blocks, thread);
  const unsigned spans = spans_of_blocks<Sum>(blocks);
  Sum total;
  for (unsigned i = w; i < spans; i += blockDim.x / warp) {
    total = add_span<Sum>(words, blocks, i, thread);
    if (thread == 0) sums[i] = total;
  }
  if (spans > 1) {
    __syncthreads();
    if (w == 0) total = add_across_threads<warp>(thread < spans ? sums[thread] : Sum(), warp);
  }
  return total;
}

/// The same in a single warp.
template <class Sum>
__device__ Sum add_blocks_in_warp(std::uint64_t* words, unsigned blocks, unsigned thread) {
  fill_last_words<Sum>(words, blocks, thread);
  const unsigned spans = spans_of_blocks<Sum>(blocks);
  Sum of_span;  // span i's in thread i
  for (unsigned i = 0; i < spans; ++i) {
    const Sum total = add_span<Sum>(words, blocks, i, thread);
    if (thread == i) of_span = total;
  }
  return add_across_threads<warp>(of_span, warp);
}

}  // namespace tally::backends::cuda
