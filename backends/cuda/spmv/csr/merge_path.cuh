// Kernel of small matrices without a plan: one tile of the merge path per block. Row i begins at i
// + row_offsets[i] on the path. A tile owns the rows that begin in it. A last row of more than
// `split_row` terms is split: a segment belongs to the tile in which it begins.
#pragma once

#include "backends/cuda/spmv/common/split_rows.cuh"

namespace tally::backends::cuda {

/// Minimum blocks per SM, which bounds registers.
template <class A>
inline constexpr unsigned merge_tile_blocks_per_sm = sizeof(A) <= 8 ? 6 : 3;

/// Longest row with which a tile doesn't yet sum all short rows in 8 threads each (tuning/spmv.md).
inline constexpr int uneven_row = 32;

struct merge_tile_start {
  std::int64_t row;      ///< first row that begins in the tile or after
  std::int64_t nonzero;  ///< row's begin
  std::int64_t whole;    ///< begin of the row before if split, else `nonzero`
};

/// Whether the row offsets are valid. Called by whole warps.
__device__ __noinline__ inline bool are_valid_offsets(const spmv_job& job) {
  bool right =
      job.offsets[0] == 0 && job.offsets[static_cast<std::size_t>(job.rows)] == job.nonzeros;
  for (std::int64_t row = threadIdx.x % warp; row < job.rows; row += warp) {
    right &= job.offsets[static_cast<std::size_t>(row)] <=
             job.offsets[static_cast<std::size_t>(row) + 1];
  }
  return __all_sync(whole_warp, right);
}

/// Finds, in a warp, the first row at or after a tile's begin on the merge path, looking first
/// where equally long rows would have it.
__device__ inline merge_tile_start merge_path_search(const spmv_job& job, std::int64_t tile) {
  const int thread = threadIdx.x % warp;
  const auto offset = [&](std::int64_t row) { return job.offsets[static_cast<std::size_t>(row)]; };
  const std::int64_t end = job.rows + job.nonzeros;
  const std::int64_t place = tile * merge_tile_path < end ? tile * merge_tile_path : end;
  std::int64_t low = 0, high = job.rows;
  const auto look = [&](std::int64_t probe) {  // rises with the thread
    probe = probe < low ? low : probe > high ? high : probe;
    const unsigned behind = __ballot_sync(whole_warp, offset(probe) + probe >= place);
    const int first = behind == 0 ? static_cast<int>(warp) : __ffs(static_cast<int>(behind)) - 1;
    const std::int64_t at = __shfl_sync(whole_warp, probe, first % static_cast<int>(warp));
    const std::int64_t before = __shfl_sync(whole_warp, probe, first == 0 ? 0 : first - 1);
    if (behind != 0) high = at;
    if (first > 0) low = before + 1;
  };
  const auto guess = static_cast<std::int64_t>(
      static_cast<double>(place) * static_cast<double>(job.rows) / static_cast<double>(end));
  look(thread < 16 ? guess - (std::int64_t{1} << (15 - thread)) + 1
                   : guess + (std::int64_t{1} << (thread - 16)));
  while (low < high) {
    const std::int64_t step = (high - low + warp - 1) / warp;
    look(low + thread * step);
  }
  low = low < job.rows ? low : job.rows;  // beyond if the last offset is too small
  merge_tile_start found{low, job.offset(low), 0};
  const std::int64_t before = low > 0 ? job.offset(low - 1) : found.nonzero;
  found.whole = found.nonzero - before > split_row ? before : found.nonzero;
  return found;
}

template <class A, class V, class X>
__global__ void __launch_bounds__(merge_tile_threads, merge_tile_blocks_per_sm<A>)
    spmv_merge_tiles(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ int starts[merge_tile_path + 1];
  constexpr int max_long_rows = max_terms / (short_row + 1) + 1;
  __shared__ int long_rows[max_long_rows];
  __shared__ int long_count;
  __shared__ merge_tile_start found[2];
  const term_planes<A, max_terms> terms(memory);
  wait_for_launch_before();
  if (threadIdx.x < 2 * warp) {
    const unsigned which = threadIdx.x / warp;
    const merge_tile_start start = merge_path_search(job, blockIdx.x + which);
    if (threadIdx.x % warp == 0) found[which] = start;
  }
  __syncthreads();
  const merge_tile_start tile = found[0], next = found[1];
  const bool splits_last = next.row > tile.row && next.whole < next.nonzero;
  const auto within = [](std::int64_t n, int limit) {
    return n < 0 ? 0 : n < limit ? static_cast<int>(n) : limit;
  };
  const int count = next.row > tile.row ? within(next.whole - tile.nonzero, max_terms) : 0;
  const int rows = within(next.row - tile.row - splits_last, merge_tile_path);

  // Row segments first, which the last one's block waits for: of the row that reaches into the
  // tile, and maybe of the row split at its end.
  const auto segment_of = [&](const merge_tile_start& at) {
    return segment_of_block(job, at.row - 1, at.whole, at.nonzero - at.whole);
  };
  const bool reaches = tile.whole < tile.nonzero;
  dot_sum<A> sum_of_segment;
#pragma unroll 1
  for (int which = reaches ? 0 : 1; which < (splits_last ? 2 : 1); ++which) {
    const split_segment share = segment_of(found[which]);
    dot_sum<A> sum;
    if (share.count > 0) sum = sum_segment<A, V, X>(job, terms, share);
    if (which == 0) sum_of_segment = sum;
  }

  if (threadIdx.x == 0) long_count = 0;
  for (int i = static_cast<int>(threadIdx.x); i <= rows;
       i += static_cast<int>(merge_tile_threads)) {
    const std::int64_t start =
        i == rows ? count : job.offsets[static_cast<std::size_t>(tile.row + i)] - tile.nonzero;
    starts[i] = static_cast<std::uint64_t>(start) < static_cast<unsigned>(count)
                    ? static_cast<int>(start)
                    : count;
  }
  stage<A, V, X, merge_tile_threads>(job, terms, tile.nonzero, count);
  __syncthreads();
  bool uneven = false;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(merge_tile_threads)) {
    const int length = starts[i + 1] - starts[i];
    uneven |= length > uneven_row;
    if (length > short_row) {
      const int k = atomicAdd(&long_count, 1);
      if (k < max_long_rows) long_rows[k] = i;
    }
  }
  uneven = __syncthreads_or(uneven);
  // A row's sum replaces its first term.
  sum_short_rows<merge_tile_threads>(staged_rows<A, max_terms>{terms, starts, rows}, uneven,
                                     [&](int row, const dot_sum<A>& sum) {
                                       if (starts[row] < starts[row + 1])
                                         terms.put(starts[row], sum);
                                     });
  const int in_warps = min(long_count, max_long_rows);
  for (int i = static_cast<int>(threadIdx.x / warp); i < in_warps; i += merge_tile_threads / warp) {
    const int row = long_rows[i];
    const dot_sum<A> sum = sum_chunk(terms, starts[row], starts[row + 1] - starts[row]);
    if (threadIdx.x % warp == 0) terms.put(starts[row], sum);
  }
  let_launch_after_start();
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(merge_tile_threads)) {
    const dot_sum<A> sum = starts[i] < starts[i + 1] ? terms[starts[i]] : dot_sum<A>();
    write_row<A>(job, tile.row + i, finish_parts(sum, job.conjugated));
  }

  if (threadIdx.x < warp && reaches) {
    const split_segment share = segment_of(found[0]);
    if (share.count > 0 && share.is_last() && share.shares > 1) {
      const dot_sum<A> sum =
          add_carry_outs(job, share.first_carry_out, share.shares, sum_of_segment,
                         static_cast<int>(threadIdx.x), [&] { return !are_valid_offsets(job); });
      if (threadIdx.x == 0) write_row<A>(job, share.row, finish_parts(sum, job.conjugated));
    }
  }
  if (threadIdx.x == 0) count_as_ended(job.ended);
}

}  // namespace tally::backends::cuda
