// Pieces of a plan with long rows, one per block: a share of the columns of a row segment, or a row
// block of adjacent short rows, whose terms are staged in shared memory.
//
// Promise: the sums are those of the row order. A thread owns lanes of a chunk, spaced by the
// threads that share it.
#pragma once

#include "backends/common/order/tree.hpp"
#include "backends/cuda/spmm/parts.cuh"
#include "backends/cuda/spmv/common/split_rows.cuh"

namespace tally::backends::cuda {

/// Blocks per SM, which bounds registers; elements of X in flight (tuning/spmm.md).
constexpr int spmm_pieces_per_sm(int block) {
  return block > static_cast<int>(spmm_threads) ? 4 : 6;
}
constexpr int piece_in_flight = 4;

/// Columns of X that a block has of a row segment.
template <class W, int count>
struct segment_columns {
  int first;    ///< thread of all columns
  int threads;  ///< per row
  x_columns<W, count> x;

  __device__ int group() const { return static_cast<int>(threadIdx.x) / threads; }
  __device__ int thread() const { return static_cast<int>(threadIdx.x) % threads; }
};

/// Sums a chunk in all threads, which each have `own` lanes, those a power of two apart. `room`
/// gets the sums by column.
template <int own, class W, class V, class I, int count>
__device__ void sum_chunk(const V* values, const I* columns, int n,
                          const segment_columns<W, count>& here, W* room) {
  constexpr int groups = static_cast<int>(order::lanes) / own;
  const int group = here.group(), thread = here.thread();
  W sums[own][count] = {};
  const int left = group < groups && n > group ? (n - group + groups - 1) / groups : 0;
  if (left > 0)
    add_terms<groups, piece_in_flight>(values + group, columns + group, left, here.x, sums);
  fold_lanes(sums);
#pragma unroll
  for (int half = groups / 2; half > 0; half /= 2) {
    __syncthreads();  // before the next chunk's, too
#pragma unroll
    for (int c = 0; c < count; ++c) {
      if (group >= half && group < 2 * half) {
        room[((group - half) * here.threads + thread) * count + c] = sums[0][c];
      }
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < count; ++c) {
      if (group < half) {
        sums[0][c] = sums[0][c] + room[(group * here.threads + thread) * count + c];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int c = 0; c < count; ++c) {
    if (group == 0) room[thread * count + c] = sums[0][c];
  }
  __syncthreads();
}

/// Sums a row segment. Passes the sums to the last segment's block, or writes them if it is the
/// row's.
template <int block, class W, class V, class I, int count>
__device__ void sum_segment(const spmm_job& job, const spmv_piece& piece, int share, W* room) {
  segment_columns<W, count> here;
  here.first = share * job.threads_per_share;
  here.threads = ::min(job.threads_per_share, job.threads_per_row - here.first);
  here.x = {static_cast<const W*>(job.x.data) + (here.first + here.thread()) * count,
            job.x.increment};
  const V* const values = static_cast<const V*>(job.values.data) + piece.nonzero;
  const I* const columns = static_cast<const I*>(job.columns.data) + piece.nonzero;
  const int groups = block / here.threads;
  const int column = static_cast<int>(threadIdx.x), width = here.threads * count;
  order::tree<W, order::add, 22> all;  // of the thread's column
  for (int done = 0; done < piece.terms; done += chunk) {
    const int n = within_chunk(piece.terms - done);
    const auto with = [&]<int own>(std::integral_constant<int, own>) {
      sum_chunk<own>(values + done, columns + done, n, here, room);
    };
    if (groups >= 64) {
      with(std::integral_constant<int, 1>());
    } else if (groups >= 32) {
      with(std::integral_constant<int, 2>());
    } else if (groups >= 16) {
      with(std::integral_constant<int, 4>());
    } else if (groups >= 8 || count > 1) {
      with(std::integral_constant<int, 8>());
    } else {
      with(std::integral_constant<int, 16>());
    }
    if (column < width) all.add(room[column]);
  }
  const std::int64_t segments = piece.shares();
  const auto carry_out = [&](int c) {
    return std::int64_t{piece.carry_out} * job.width + (here.first * count + c) * segments;
  };
  if (piece.before + 1 < segments) {
    if (column < width) {
      store_carry_out(job, carry_out(column) + piece.before, dot_sum<W>{all.total()});
    }
    return;
  }
  if (piece.before == 0) {
    if (column < width) write_column(job, piece.row, here.first * count + column, all.total());
    return;
  }
  if (column < width) room[column] = all.total();  // its reader of the chunk's sum is this thread
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x / warp); c < width;
       c += block / static_cast<int>(warp)) {
    const dot_sum<W> sum =
        add_carry_outs(job, carry_out(c), segments, dot_sum<W>{room[c]},
                       static_cast<int>(threadIdx.x % warp), [] { return false; });
    if (threadIdx.x % warp == 0) write_column(job, piece.row, here.first * count + c, sum.value);
  }
  __syncthreads();
  if (threadIdx.x == 0) count_as_ended(job.ended);
}

/// Terms of a row that need not have all groups of threads, at most: the longest decides.
constexpr int max_terms_of_group = 16;

template <class W, class V, class I, int count, int block>
__global__ void __launch_bounds__(block, spmm_pieces_per_sm(block))
    sum_pieces(const __grid_constant__ spmm_job job) {
  constexpr int max_row_block = row_block_path + max_short_row;
  __shared__ V values[max_row_block];
  __shared__ I columns[max_row_block];
  __shared__ W room[block * count];
  __shared__ int starts[row_block_path + 1];
  __shared__ int longer[max_row_block / max_terms_of_group];
  __shared__ int longer_rows;
  const std::int64_t of_segments = job.segments * job.shares;
  if (blockIdx.x < of_segments) {
    const spmv_piece piece = job.pieces[blockIdx.x / job.shares];
    return sum_segment<block, W, V, I, count>(job, piece, static_cast<int>(blockIdx.x % job.shares),
                                              room);
  }
  const spmv_piece piece = job.pieces[blockIdx.x - of_segments + job.segments];
  const int terms = ::min(piece.terms, max_row_block);
  for (int i = static_cast<int>(threadIdx.x); i < piece.rows; i += block) {
    starts[i] = start_in_row_block(static_cast<std::uint32_t>(job.offset(piece.row + i)), piece);
  }
  if (threadIdx.x == 0) {
    starts[piece.rows] = terms;
    longer_rows = 0;
  }
#pragma unroll
  for (int k = 0; k < max_row_block; k += block) {
    const int i = k + static_cast<int>(threadIdx.x);
    if (i >= terms) continue;
    values[i] = static_cast<const V*>(job.values.data)[piece.nonzero + i];
    columns[i] = static_cast<const I*>(job.columns.data)[piece.nonzero + i];
  }
  __syncthreads();
  const auto length = [&](int row) { return ::min(starts[row + 1] - starts[row], max_short_row); };
  for (int i = static_cast<int>(threadIdx.x); i < piece.rows; i += block) {
    if (length(i) <= max_terms_of_group) continue;
    const int at = atomicAdd(&longer_rows, 1);
    if (at < max_row_block / max_terms_of_group) longer[at] = i;
  }
  __syncthreads();
  const auto sum_row = [&]<int parts>(std::integral_constant<int, parts>, const row_place& place,
                                      int row, int thread, int n, int column_threads) {
    const x_columns<W, count> x{static_cast<const W*>(job.x.data) + thread * count,
                                job.x.increment};
    const int start = n > 0 ? starts[row] : 0;
    W sum[count];
    sum_in_parts<parts, piece_in_flight>(values + start, columns + start, n, place.part,
                                         column_threads, x, sum);
    if (n < 0 || place.part != 0) return;
#pragma unroll
    for (int c = 0; c < count; ++c) write_column(job, piece.row + row, thread * count + c, sum[c]);
  };
  const auto sum_rows = [&]<int parts>(std::integral_constant<int, parts> p) {
    const row_place place(block, parts, job.threads_per_row);
    for (int first = 0; first < piece.rows; first += place.rows) {
      const int row = first + place.row;
      int n = place.row >= 0 && row < piece.rows ? length(row) : -1;
      if (n > max_terms_of_group) n = -1;
      sum_row(p, place, row, place.thread, n, job.threads_per_row);
    }
  };
  {  // Longer ones first: 8 threads per column.
    constexpr int parts = spmm_lanes;
    const int at_once = job.threads_per_row > 2 ? 4 : job.threads_per_row;
    const int groups = (job.threads_per_row + at_once - 1) / at_once;
    const row_place place(block, parts, at_once);
    const int items = ::min(longer_rows, max_row_block / max_terms_of_group) * groups;
    for (int first = 0; first < items; first += place.rows) {
      const int item = first + place.row;
      const bool has_row = place.row >= 0 && item < items;
      const int row = has_row ? longer[item / groups] : 0;
      const int thread = (has_row ? item % groups : 0) * at_once + place.thread;
      const bool has_columns = has_row && thread < job.threads_per_row;
      sum_row(std::integral_constant<int, parts>(), place, row, thread,
              has_columns ? length(row) : -1, at_once);
    }
  }
  // As many threads per row as let two rounds take all.
  const int per_row = 2 * block / ::max(piece.rows, 1);
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
