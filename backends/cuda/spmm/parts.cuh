// Few short rows: `parts` groups of threads share a row, so that all terms are on their way at
// once. Longer rows are queued.
#pragma once

#include "backends/cuda/spmm/rows.cuh"

namespace tally::backends::cuda {

/// Sums a row's terms from `values`, `columns` on, in `parts` groups of `column_threads` adjacent
/// threads of a warp; the first group has the sums. Called by a whole warp.
template <int parts, int in_flight, class W, class V, class I, int count>
__device__ void sum_in_parts(const V* values, const I* columns, int n, int part, int column_threads,
                             const x_columns<W, count>& x, W (&sum)[count]) {
  constexpr int own = spmm_lanes / parts;
  W sums[own][count] = {};
  const int left = n - part > 0 ? (n - part + parts - 1) / parts : 0;
  if (left > 0) add_terms<parts, in_flight>(values + part, columns + part, left, x, sums);
  fold_lanes(sums);
#pragma unroll
  for (int half = parts / 2; half > 0; half /= 2) {
#pragma unroll
    for (int c = 0; c < count; ++c) {
      sums[0][c] = sums[0][c] + __shfl_down_sync(whole_warp, sums[0][c],
                                                 static_cast<unsigned>(half * column_threads));
    }
  }
#pragma unroll
  for (int c = 0; c < count; ++c) sum[c] = sums[0][c];
}

/// A thread's row in a block, whose warps have as many whole rows as fit.
struct row_place {
  int row, part, thread;  ///< row of the block; -1: none
  int rows;               ///< of the block

  __device__ row_place(int block, int parts, int column_threads) {
    const int lane = static_cast<int>(threadIdx.x % warp);
    const int per_row = parts * column_threads;
    const int in_warp = lane / per_row, per_warp = static_cast<int>(warp) / per_row;
    row = in_warp < per_warp ? static_cast<int>(threadIdx.x / warp) * per_warp + in_warp : -1;
    thread = lane % column_threads;
    part = lane / column_threads % parts;
    rows = block / static_cast<int>(warp) * per_warp;
  }
};

template <class W, class V, class I, int count, int parts>
__global__ void __launch_bounds__(spmm_threads)
    sum_rows_in_parts(const __grid_constant__ spmm_job job) {
  constexpr int in_flight = parts > 2 ? 4 : 8;
  const row_place place(spmm_threads, parts, job.threads_per_row);
  const std::int64_t row = std::int64_t{blockIdx.x} * place.rows + place.row;
  const bool has_row = place.row >= 0 && row < job.rows;
  const std::int64_t begin = has_row ? job.offset(row) : 0;
  const std::int64_t n = has_row ? job.offset(row + 1) - begin : 0;
  const bool is_short = n <= max_short_row;
  if (!is_short && place.thread == 0 && place.part == 0) queue_chunks(job, row, n);
  const x_columns<W, count> x{static_cast<const W*>(job.x.data) + place.thread * count,
                              job.x.increment};
  W sum[count];
  sum_in_parts<parts, in_flight>(static_cast<const V*>(job.values.data) + begin,
                                 static_cast<const I*>(job.columns.data) + begin,
                                 is_short ? static_cast<int>(n) : 0, place.part,
                                 job.threads_per_row, x, sum);
  if (!has_row || !is_short || place.part != 0) return;
#pragma unroll
  for (int c = 0; c < count; ++c) write_column(job, row, place.thread * count + c, sum[c]);
}

}  // namespace tally::backends::cuda
