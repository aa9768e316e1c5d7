// Sums of rows with terms in shared memory, short ones in a few threads, longer ones in a warp.
//
// Promise: the sums are those of the row order. A thread owns lanes spaced by the threads per row.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/common/terms.cuh"

namespace tally::backends::cuda {

constexpr int short_row = static_cast<int>(row_order::short_row);
constexpr int row_lanes = static_cast<int>(row_order::lanes);

/// Terms and rows of a block.
template <class A, int capacity, class Start = int>
struct staged_rows {
  term_planes<A, capacity> terms;
  const Start* starts;  ///< of each row among the terms, and the last one's end
  int rows;
};

/// Sums the short rows staged by `block` threads, in `threads` each; one passes the sum to `give`.
/// `number`: the calling thread.
template <int block, int threads, class A, int capacity, class Start, class Give>
__device__ void sum_short_rows(const staged_rows<A, capacity, Start>& staged, const Give& give,
                               int number) {
  using Sum = dot_sum<A>;
  constexpr int own = row_lanes / threads;  // lanes per thread
  // Terms per lane and step; with few lanes per thread, rows may be longer (tuning/spmv.md).
  constexpr int at_once = threads < 4 ? threads : 4;
  constexpr int in_block = block / threads;
  const int thread = number % threads;
  for (int first = 0; first < staged.rows; first += in_block) {
    const int row = first + number / threads;
    const int starts_at = row < staged.rows ? staged.starts[row] : 0;
    const int end = row < staged.rows ? staged.starts[row + 1] : 0;
    const bool is_short = end - starts_at <= short_row;
    Sum s[own];
    if (is_short) {
      int i = starts_at + thread;
      for (; i + (at_once * own - 1) * threads < end; i += at_once * row_lanes) {
        Sum next[at_once * own];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) next[v] = staged.terms[i + v * threads];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) s[v % own] = s[v % own] + next[v];
      }
#pragma unroll
      for (int v = 0; v < at_once * own - 1; ++v) {
        if (i + v * threads < end) s[v % own] = s[v % own] + staged.terms[i + v * threads];
      }
    }
    const Sum sum = fold_across_threads<threads>(fold_within_thread(s));
    if (is_short && thread == 0 && row < staged.rows) give(row, sum);
  }
}

template <class A, int capacity>
__device__ dot_sum<A> sum_chunk(const term_planes<A, capacity>& terms, int first, int count) {
  constexpr int at_once = 8;
  const int thread = static_cast<int>(threadIdx.x % warp);
  dot_sum<A> low, high;
  for (int i = thread; i < count; i += 2 * at_once * static_cast<int>(warp)) {
    dot_sum<A> next[2 * at_once];
#pragma unroll
    for (int k = 0; k < 2 * at_once; ++k) {
      if (i + k * static_cast<int>(warp) < count) {
        next[k] = terms[first + i + k * static_cast<int>(warp)];
      }
    }
#pragma unroll
    for (int k = 0; k < 2 * at_once; k += 2) {
      low = low + next[k];
      high = high + next[k + 1];
    }
  }
  return fold_across_threads<warp>(low + high);
}

/// Sums the short rows in as many threads each as let all run at once, or 8 if `uneven`.
template <int block, class A, int capacity, class Start, class Give>
__device__ void sum_short_rows(const staged_rows<A, capacity, Start>& staged, bool uneven,
                               const Give& give, int number) {
  if (uneven || staged.rows * 8 <= block) return sum_short_rows<block, 8>(staged, give, number);
  if (staged.rows * 4 <= block) return sum_short_rows<block, 4>(staged, give, number);
  if (staged.rows * 2 <= block) return sum_short_rows<block, 2>(staged, give, number);
  sum_short_rows<block, 1>(staged, give, number);
}

/// The same, in a whole block.
template <int block, class A, int capacity, class Start, class Give>
__device__ void sum_short_rows(const staged_rows<A, capacity, Start>& staged, bool uneven,
                               const Give& give) {
  sum_short_rows<block>(staged, uneven, give, static_cast<int>(threadIdx.x));
}

}  // namespace tally::backends::cuda
