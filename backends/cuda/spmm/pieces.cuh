// Pieces of a plan with long rows, one per block: a row segment, or a row block of adjacent short
// rows, whose terms are staged in shared memory.
//
// Promise: the sums are those of the row order. A thread owns lanes of a chunk, spaced by the
// threads that share it.
#pragma once

#include "backends/common/order/tree.hpp"
#include "backends/cuda/spmm/parts.cuh"
#include "backends/cuda/spmv/common/split_rows.cuh"

namespace tally::backends::cuda {

/// Sums a chunk in spmm_threads, which each have `own` lanes: first those a power of two apart.
template <int own, class W, class V, class I, int count>
__device__ void sum_chunk(const V* values, const I* columns, int n, int column_threads, int group,
                          int thread, const x_columns<W, count>& x, W* room, W (&sum)[count]) {
  constexpr int groups = static_cast<int>(order::lanes) / own;
  W sums[own][count] = {};
  const int left = group < groups && n > group ? (n - group + groups - 1) / groups : 0;
  if (left > 0) add_terms<groups, 8>(values + group, columns + group, left, x, sums);
  fold_lanes(sums);
#pragma unroll
  for (int half = groups / 2; half > 0; half /= 2) {
    __syncthreads();  // before the next chunk's, too
#pragma unroll
    for (int c = 0; c < count; ++c) {
      if (group >= half && group < 2 * half) {
        room[((group - half) * column_threads + thread) * count + c] = sums[0][c];
      }
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < count; ++c) {
      if (group < half) {
        sums[0][c] = sums[0][c] + room[(group * column_threads + thread) * count + c];
      }
    }
  }
#pragma unroll
  for (int c = 0; c < count; ++c) sum[c] = sums[0][c];
}

/// The same with as many groups of threads as there are.
template <class W, class V, class I, int count>
__device__ void sum_chunk(const V* values, const I* columns, int n, int column_threads, int group,
                          int thread, const x_columns<W, count>& x, W* room, W (&sum)[count]) {
  const int groups = static_cast<int>(spmm_threads) / column_threads;
  const auto with = [&]<int own>(std::integral_constant<int, own>) {
    sum_chunk<own>(values, columns, n, column_threads, group, thread, x, room, sum);
  };
  if (groups >= 64) return with(std::integral_constant<int, 1>());
  if (groups >= 32) return with(std::integral_constant<int, 2>());
  if (groups >= 16) return with(std::integral_constant<int, 4>());
  if (groups >= 8 || count > 1) return with(std::integral_constant<int, 8>());
  with(std::integral_constant<int, 16>());
}

/// Sums a row segment. Passes the sums to the last segment's block, or writes them if it is the
/// row's.
template <class W, class V, class I, int count>
__device__ void sum_segment(const spmm_job& job, const spmv_piece& piece, W* room) {
  const int group = static_cast<int>(threadIdx.x) / job.threads_per_row;
  const int thread = static_cast<int>(threadIdx.x) % job.threads_per_row;
  const x_columns<W, count> x{static_cast<const W*>(job.x.data) + thread * count, job.x.increment};
  const V* const values = static_cast<const V*>(job.values.data) + piece.nonzero;
  const I* const columns = static_cast<const I*>(job.columns.data) + piece.nonzero;
  order::tree<W, order::add, 22> trees[count];
  for (int done = 0; done < piece.terms; done += chunk) {
    W sum[count];
    sum_chunk(values + done, columns + done, within_chunk(piece.terms - done), job.threads_per_row,
              group, thread, x, room, sum);
#pragma unroll
    for (int c = 0; c < count; ++c) trees[c].add(sum[c]);
  }
  __syncthreads();
  if (group == 0) {
#pragma unroll
    for (int c = 0; c < count; ++c) room[thread * count + c] = trees[c].total();
  }
  __syncthreads();
  const std::int64_t first = std::int64_t{piece.carry_out} * job.width;
  const int column = static_cast<int>(threadIdx.x);
  const std::int64_t segments = piece.shares();
  if (piece.before + 1 < segments) {
    if (column < job.width) {
      store_carry_out(job, first + column * segments + piece.before, dot_sum<W>{room[column]});
    }
    return;
  }
  if (piece.before == 0) {
    if (column < job.width) write_column(job, piece.row, column, room[column]);
    return;
  }
  for (int c = static_cast<int>(threadIdx.x / warp); c < job.width;
       c += static_cast<int>(spmm_threads / warp)) {
    const dot_sum<W> sum =
        add_carry_outs(job, first + c * segments, segments, dot_sum<W>{room[c]},
                       static_cast<int>(threadIdx.x % warp), [] { return false; });
    if (threadIdx.x % warp == 0) write_column(job, piece.row, c, sum.value);
  }
  __syncthreads();
  if (threadIdx.x == 0) count_as_ended(job.ended);
}

template <class W, class V, class I, int count>
__global__ void __launch_bounds__(spmm_threads) sum_pieces(const __grid_constant__ spmm_job job) {
  constexpr int max_row_block = row_block_path + max_short_row;
  __shared__ V values[max_row_block];
  __shared__ I columns[max_row_block];
  __shared__ W room[spmm_threads * count];
  __shared__ int starts[row_block_path + 1];
  const spmv_piece piece = job.pieces[blockIdx.x];
  if (!piece.is_row_block()) return sum_segment<W, V, I, count>(job, piece, room);
  const int terms = ::min(piece.terms, max_row_block);
  for (int i = static_cast<int>(threadIdx.x); i < piece.rows; i += static_cast<int>(spmm_threads)) {
    starts[i] = start_in_row_block(static_cast<std::uint32_t>(job.offset(piece.row + i)), piece);
  }
  if (threadIdx.x == 0) starts[piece.rows] = terms;
#pragma unroll
  for (int k = 0; k < max_row_block; k += static_cast<int>(spmm_threads)) {
    const int i = k + static_cast<int>(threadIdx.x);
    if (i >= terms) continue;
    values[i] = static_cast<const V*>(job.values.data)[piece.nonzero + i];
    columns[i] = static_cast<const I*>(job.columns.data)[piece.nonzero + i];
  }
  __syncthreads();
  const auto sum_rows = [&]<int parts>(std::integral_constant<int, parts>) {
    const row_place place(parts, job.threads_per_row);
    const int at_once = static_cast<int>(warp) / (parts * job.threads_per_row) *
                        static_cast<int>(spmm_threads / warp);
    const x_columns<W, count> x{static_cast<const W*>(job.x.data) + place.thread * count,
                                job.x.increment};
    for (int first = 0; first < piece.rows; first += at_once) {
      const int row = first + place.row;
      const bool has_row = place.row >= 0 && row < piece.rows;
      const int start = has_row ? starts[row] : 0;
      const int n = has_row ? ::min(starts[row + 1] - start, max_short_row) : 0;
      W sum[count];
      sum_in_parts<parts>(values + start, columns + start, n, place.part, job.threads_per_row, x,
                          sum);
      if (!has_row || place.part != 0) continue;
#pragma unroll
      for (int c = 0; c < count; ++c) {
        write_column(job, piece.row + row, place.thread * count + c, sum[c]);
      }
    }
  };
  // As many threads per row as let two rounds take all.
  const int per_row = 2 * static_cast<int>(spmm_threads) / ::max(piece.rows, 1);
  const auto may_have = [&](int parts) {
    const int threads = parts * job.threads_per_row;
    return threads <= per_row && threads <= static_cast<int>(warp);
  };
  if (may_have(8)) return sum_rows(std::integral_constant<int, 8>());
  if (may_have(4)) return sum_rows(std::integral_constant<int, 4>());
  if (may_have(2)) return sum_rows(std::integral_constant<int, 2>());
  sum_rows(std::integral_constant<int, 1>());
}

}  // namespace tally::backends::cuda
