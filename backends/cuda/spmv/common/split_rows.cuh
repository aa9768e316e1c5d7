// Rows too long for one block, split into row segments, nodes of the order's tree. The last
// segment's block adds the carry-outs of the others.
//
// Promise: the row's sum is the order's, whichever block comes first.
#pragma once

#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// Carry-out, of at least two words.
template <class Sum>
struct alignas(8) padded_sum {
  Sum sum;
};

/// Stores a carry-out under the launch's tag.
template <class Sum>
__device__ void store_carry_out(const spmv_job& job, std::int64_t carry_out, const Sum& sum) {
  constexpr int a_sum = words_per<padded_sum<Sum>>;
  const padded_sum<Sum> handed{sum};
  std::uint32_t payload[a_sum];
  memcpy(payload, &handed, sizeof handed);
#pragma unroll
  for (int k = 0; k < a_sum; k += 2) {
    store_words(job.words + carry_out * a_sum + k, make_word(payload[k], job.tag),
                make_word(payload[k + 1], job.tag));
  }
}

/// Adds `count` sums: carry-outs from `first_carry_out` on, and last `own`, a warp's. Waiting, it
/// now and then calls `gives_up`; if that returns true, the result is meaningless.
template <class Sum, class GiveUp>
__device__ Sum add_carry_outs(const spmv_job& job, std::int64_t first_carry_out, std::int64_t count,
                              const Sum& own, int thread, const GiveUp& gives_up) {
  constexpr int a_sum = words_per<padded_sum<Sum>>;
  constexpr unsigned patience = 1u << 14;  // tuning/spmv.md: patience
  warp_tree<Sum> tree;
  for (std::int64_t first = 0; first < count; first += warp) {
    const std::int64_t i = first + thread;
    const bool takes = i < count - 1;
    std::uint64_t* const from = job.words + (first_carry_out + (takes ? i : 0)) * a_sum;
    std::uint64_t word[a_sum], others = 0;
    for (unsigned looks = 1;; ++looks) {
#pragma unroll
      for (int k = 0; k < a_sum; k += 2) load_words(from + k, word[k], word[k + 1]);
      others = 0;
#pragma unroll
      for (int k = 0; k < a_sum; ++k) others |= word[k] ^ make_word(0, job.tag);
      if (!__any_sync(whole_warp, takes && tag_of(others) != 0)) break;
      if (looks % patience == 0 && gives_up()) return own;
    }
    if (takes) {
#pragma unroll
      for (int k = 0; k < a_sum; k += 2) store_words(from + k, 0, 0);
    }
    std::uint32_t payload[a_sum];
#pragma unroll
    for (int k = 0; k < a_sum; ++k) payload[k] = takes ? static_cast<std::uint32_t>(word[k]) : 0;
    Sum s;
    memcpy(&s, payload, sizeof s);
    if (i == count - 1) s = own;
    tree.add(add_across_threads<warp>(s, warp), thread);
  }
  return tree.total();
}

/// A block's segment of a split row.
struct split_segment {
  std::int64_t row = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;            ///< nonzeros; 0: no segment
  std::int64_t index = 0;            ///< among the row's segments
  std::int64_t shares = 0;           ///< of the row
  std::int64_t first_carry_out = 0;  ///< of the first segment

  __device__ bool is_last() const { return index == shares - 1; }
};

__device__ inline split_segment segment_of_block(const spmv_job& job, std::int64_t row,
                                                 std::int64_t start, std::int64_t length) {
  const std::int64_t first_tile = (row + start) / merge_tile_path;
  const std::int64_t ahead = blockIdx.x - first_tile;
  const std::int64_t terms = std::int64_t{merge_tile_path} << job.segment_shift;
  split_segment s;
  if (ahead < 0) return s;  // wrong offsets
  s.row = row;
  s.index = ahead >> job.segment_shift;
  s.first = start + s.index * terms;
  s.shares = (length + terms - 1) / terms;
  s.first_carry_out = first_tile >> job.segment_shift;
  const std::int64_t left = length - s.index * terms;
  if (s.index << job.segment_shift == ahead && left > 0) s.count = left < terms ? left : terms;
  return s;
}

/// Sums a segment, in the first warp. Passes the sum to the last segment's block, or writes it if
/// it is the only one.
template <class A, class V, class X>
__device__ dot_sum<A> sum_segment(const spmv_job& job, const term_planes<A, max_terms>& terms,
                                  const split_segment& share) {
  using Sum = dot_sum<A>;
  const int thread = threadIdx.x % warp;
  const bool sums = threadIdx.x < warp;
  warp_tree<Sum> tree;
  for (std::int64_t done = 0; done < share.count; done += chunk) {
    const int some = within_chunk(share.count - done);
    stage<A, V, X, merge_tile_threads>(job, terms, share.first + done, some);
    __syncthreads();
    if (sums) tree.add(sum_chunk(terms, 0, some), thread);
    __syncthreads();
  }
  if (!sums) return {};
  const Sum sum = tree.total();
  if (!share.is_last()) {
    if (thread == 0) store_carry_out(job, share.first_carry_out + share.index, sum);
  } else if (share.shares == 1 && thread == 0) {
    write_row<A>(job, share.row, finish_parts(sum, conjugate::none));
  }
  return sum;
}

}  // namespace tally::backends::cuda
