// Tiles of adjacent short rows, one per block: values and columns come to shared memory by bulk
// copies, if there is room; X comes through L1. A row has a thread for each one or two columns.
// Longer rows are queued.
#pragma once

#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/spmm/rows.cuh"

namespace tally::backends::cuda {

/// Elements of X in flight (tuning/spmm.md).
constexpr int tile_in_flight = 4;

template <class W, class V, class I, int count>
__global__ void __launch_bounds__(spmm_threads, spmm_tiles_per_sm)
    sum_tiles(const __grid_constant__ spmm_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int starts[max_tile_rows + 1];
  __shared__ int value_shift, column_shift;  // of the first term
  const std::int64_t first = std::int64_t{blockIdx.x} * job.rows_per_block;
  const int rows = static_cast<int>(::min(std::int64_t{job.rows_per_block}, job.rows - first));
  const std::int64_t begin = job.offset(first), end = job.offset(first + rows);
  const bool fits = begin <= end && end - begin <= job.tile_terms;
  V* const values = reinterpret_cast<V*>(memory);
  I* const columns =
      reinterpret_cast<I*>(reinterpret_cast<char*>(memory) +
                           bytes_to_bring<V>(static_cast<std::size_t>(job.tile_terms)));
  const auto* const all_values = static_cast<const V*>(job.values.data);
  const auto* const all_columns = static_cast<const I*>(job.columns.data);
  if (fits && brings()) {
    if (threadIdx.x == 0) barrier.expect(2);
    const std::int64_t value = bring(barrier, values, all_values, job.nonzeros, begin, end);
    const std::int64_t column = bring(barrier, columns, all_columns, job.nonzeros, begin, end);
    if (threadIdx.x == 0) {
      value_shift = static_cast<int>(begin - value);
      column_shift = static_cast<int>(begin - column);
    }
  }
  for (int i = static_cast<int>(threadIdx.x); i <= rows; i += static_cast<int>(spmm_threads)) {
    // If offsets have changed since the plan, rows stay within the tile.
    starts[i] = static_cast<int>(
        ::max(::min(job.offset(first + i) - begin, std::int64_t{job.tile_terms}), std::int64_t{0}));
  }
  __syncthreads();
  if (fits) barrier.wait();
  const int in_block = static_cast<int>(threadIdx.x) / job.threads_per_row;
  const int thread = static_cast<int>(threadIdx.x) - in_block * job.threads_per_row;
  const int at_once = static_cast<int>(spmm_threads) / job.threads_per_row;
  if (in_block >= at_once) return;
  const x_columns<W, count> x{static_cast<const W*>(job.x.data) + thread * count, job.x.increment};
  for (int i = in_block; i < rows; i += at_once) {
    const std::int64_t row = first + i;
    W sums[spmm_lanes][count] = {};
    if (fits) {
      const int n = starts[i + 1] - starts[i];
      if (n > max_short_row) {
        if (thread == 0) queue_chunks(job, row, n);
        continue;
      }
      add_terms<1, tile_in_flight>(values + value_shift + starts[i],
                                   columns + column_shift + starts[i], n, x, sums);
    } else {
      const std::int64_t at = job.offset(row), n = job.offset(row + 1) - at;
      if (n > max_short_row) {
        if (thread == 0) queue_chunks(job, row, n);
        continue;
      }
      add_terms<1, tile_in_flight>(all_values + at, all_columns + at, static_cast<int>(n), x, sums);
    }
    fold_lanes(sums);
#pragma unroll
    for (int c = 0; c < count; ++c) write_column(job, row, thread * count + c, sums[0][c]);
  }
}

}  // namespace tally::backends::cuda
