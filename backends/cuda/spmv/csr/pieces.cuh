// Kernel of a plan with long rows: one piece per block.
#pragma once

#include "backends/cuda/spmv/common/split_rows.cuh"

namespace tally::backends::cuda {

/// Blocks per SM of the pieces kernel (tuning/spmv.md).
template <class A>
inline constexpr unsigned pieces_blocks_per_sm = is_complex_v<A> ? 6 : 12;

/// Loads the lower 32 bits of a thread's offsets in a row block, without waiting.
template <class Offset, int rows_per_thread>
__device__ void load_offsets(const spmv_job& job, const spmv_piece& piece,
                             std::uint32_t (&low)[rows_per_thread]) {
  const int first = static_cast<int>(threadIdx.x);
  const auto* const from = static_cast<const Offset*>(job.offsets.data) + piece.row + first;
  Offset offset[rows_per_thread] = {};
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    constexpr int apart = piece_threads;
    load_if(first + k * apart < piece.rows, from + k * apart, offset[k]);
    low[k] = static_cast<std::uint32_t>(offset[k]);
  }
}

template <class A, class V, class X>
__global__ void __launch_bounds__(piece_threads, pieces_blocks_per_sm<A>)
    spmv_pieces(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ int starts[row_block_path + 1];
  const term_planes<A, piece_terms> terms(memory);
  // Plan data: no need to wait.
  const spmv_piece piece = job.pieces[blockIdx.x];
  constexpr int rows_per_thread = (row_block_path + piece_threads - 1) / piece_threads;
  std::uint32_t offsets[rows_per_thread];
  if (job.offsets.wide) {
    load_offsets<std::int64_t>(job, piece, offsets);
  } else {
    load_offsets<std::int32_t>(job, piece, offsets);
  }
  wait_for_launch_before();

  const int thread = threadIdx.x % warp;
  warp_tree<dot_sum<A>> tree;
  for (int done = 0;; done += chunk) {
    const int some = piece.terms - done < chunk ? piece.terms - done : chunk;
    stage<A, V, X, piece_threads>(job, terms, piece.nonzero + done, some);
    if (piece.is_row_block()) break;
    __syncthreads();
    if (threadIdx.x < warp) tree.add(sum_chunk(terms, 0, some), thread);
    if (done + chunk >= piece.terms) break;
    __syncthreads();
  }
  if (piece.is_row_block()) {
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * piece_threads;
      if (i >= piece.rows) continue;
      starts[i] = start_in_row_block(offsets[k], piece);
    }
    if (threadIdx.x == 0) starts[piece.rows] = piece.terms;
    __syncthreads();
    let_launch_after_start();
    return sum_short_rows<piece_threads>(staged_rows<A, piece_terms>{terms, starts, piece.rows},
                                         false, [&](int row, const dot_sum<A>& sum) {
                                           write_row<A>(job, piece.row + row,
                                                        finish_parts(sum, job.conjugated));
                                         });
  }
  let_launch_after_start();
  if (threadIdx.x >= warp) return;
  dot_sum<A> sum = tree.total();
  if (piece.before + 1 < piece.shares()) {
    if (thread == 0) store_carry_out(job, piece.carry_out + piece.before, sum);
    return;
  }
  if (piece.before > 0) {
    sum = add_carry_outs(job, piece.carry_out, piece.shares(), sum, thread, [] { return false; });
    if (thread == 0) count_as_ended(job.ended);
  }
  if (thread == 0) write_row<A>(job, piece.row, finish_parts(sum, job.conjugated));
}

}  // namespace tally::backends::cuda
