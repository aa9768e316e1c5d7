// These kernels compute spmv of a large matrix without a plan, in two launches: each row has a few
// threads, by the mean length alone, or one, where all seem to have one length. Those that find out
// that theirs is long queue its shares, a chunk each, which the warps of the second launch take.
//
// Promise: y has the bits of the row order. Offsets may be wrong, as for tiles (job.hpp).
#pragma once

#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/rows.cuh"
#include "backends/cuda/spmv/split_rows.cuh"

#include <cstdint>

namespace tally::backends::cuda {

/// Queues the shares of the warp's long rows. Each has the row's first place in the queue and how
/// many shares there are in it. What has no room comes from wrong offsets.
template <int threads>
__device__ void queue_long_row(const spmv_job& job, bool is_long, std::int64_t row,
                               std::int64_t start, std::int64_t length) {
  const unsigned thread = threadIdx.x % warp;
  unsigned rows = __ballot_sync(whole_warp, is_long && thread % threads == 0);
  while (rows != 0) {
    const int from = __ffs(static_cast<int>(rows)) - 1;
    rows &= rows - 1;
    spmv_piece share;
    share.row = __shfl_sync(whole_warp, row, from);
    const std::int64_t first = __shfl_sync(whole_warp, start, from);
    const std::int64_t terms = __shfl_sync(whole_warp, length, from);
    const std::int64_t shares = (terms + chunk - 1) / chunk;
    unsigned long long place = 0;
    if (thread == 0) {
      place = atomicAdd(reinterpret_cast<unsigned long long*>(job.queue.count),
                        static_cast<unsigned long long>(shares));
    }
    place = __shfl_sync(whole_warp, place, 0);
    const std::uint64_t room = job.queue.room;
    const bool fits = place + static_cast<std::uint64_t>(shares) <= room;
    share.handover = static_cast<std::int32_t>(place);
    share.rows = -static_cast<std::int32_t>(shares);
    if (thread == 0 && fits) job.queue.counts[place] = 0;
    for (std::int64_t i = thread; i < shares; i += warp) {
      if (place + static_cast<std::uint64_t>(i) >= room) break;
      const std::int64_t left = terms - i * chunk;
      share.nonzero = first + i * chunk;
      share.terms = fits ? static_cast<std::int32_t>(left < chunk ? left : chunk) : 0;
      job.queue.shares[place + static_cast<std::uint64_t>(i)] = share;
    }
  }
}

/// Sums a row in each `threads` threads of a warp, or queues its shares.
template <class T, int threads>
__device__ void multiply_row(const spmv_job& job, std::int64_t row) {
  std::int64_t start = 0, length = 0;
  if (row < job.rows) {
    start = job.offset(row);
    length = job.offset(row + 1) - start;
  }
  const bool is_long = length > short_row;
  if (__any_sync(whole_warp, is_long)) queue_long_row<threads>(job, is_long, row, start, length);
  // Wrong offsets may make a negative length, which must not be cut to 32 bits.
  const int count = is_long || length < 0 ? 0 : static_cast<int>(length);
  dot_sum<T> sum;
  if (job.columns.wide) {
    sum = sum_row<T, T, T, std::int64_t, threads>(job, start, count);
  } else {
    sum = sum_row<T, T, T, std::int32_t, threads>(job, start, count);
  }
  let_launch_after_start();
  if (row < job.rows && !is_long && threadIdx.x % threads == 0) {
    write_row<T>(job, row, finish_parts(sum, conjugate::none));
  }
}

template <class T, int threads>
__global__ void __launch_bounds__(row_threads)
    spmv_rows_unplanned(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  multiply_row<T, threads>(
      job, std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads);
}

/// A multiprocessor has at least so many tiles of rows at a time.
template <int in_flight>
inline constexpr unsigned even_tiles = in_flight > 8 ? 1 : 16;

/// Computes a tile of adjacent rows in a block. Where none has more terms than the mean lets
/// expect, each is one thread's, and values and columns come by bulk copies, as with a plan
/// (row_tiles.cuh); elsewhere each row has a few threads.
template <class T, int threads, int in_flight>
__global__ void __launch_bounds__(row_tile, even_tiles<in_flight>)
    spmv_even_rows(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::uint32_t begin;            // the tile's first term, without the bits above 32
  __shared__ int terms;                      // how many it has
  __shared__ int value_shift, column_shift;  // where the first one is in `values`, in `columns`
  const std::int64_t first = std::int64_t{blockIdx.x} * row_tile, row = first + threadIdx.x;
  const auto offset_of = [&](std::int64_t i) { return job.offset(i < job.rows ? i : job.rows); };
  wait_for_launch_before();
  const std::int64_t row_begin = offset_of(row), row_end = offset_of(row + 1);
  const std::int64_t tile_end = brings() ? offset_of(first + row_tile) : 0;
  const std::int64_t tile_begin = brings() ? offset_of(first) : 0;
  if (threadIdx.x == 0) barrier.expect(2);
  const std::int64_t length = row_end - row_begin;
  if (__syncthreads_or(length < 0 || length > job.tile_terms / static_cast<int>(row_tile))) {
#pragma unroll 1
    for (int turn = 0; turn < threads; ++turn) {
      multiply_row<T, threads>(job, first + (turn * row_tile + threadIdx.x) / threads);
    }
    return;
  }
  T* const values = reinterpret_cast<T*>(memory);
  auto* const columns = reinterpret_cast<std::int32_t*>(reinterpret_cast<char*>(memory) +
                                                        bytes_to_bring<T>(job.tile_terms));
  if (brings()) {
    const std::int64_t count = min(tile_end - tile_begin, std::int64_t{job.tile_terms});
    const std::int64_t first_value = bring(barrier, values, static_cast<const T*>(job.values.data),
                                           job.nonzeros, tile_begin, tile_begin + count);
    const std::int64_t first_column =
        bring(barrier, columns, static_cast<const std::int32_t*>(job.columns.data), job.nonzeros,
              tile_begin, tile_begin + count);
    if (threadIdx.x == 0) {
      begin = static_cast<std::uint32_t>(tile_begin);
      terms = static_cast<int>(count);
      value_shift = static_cast<int>(tile_begin - first_value);
      column_shift = static_cast<int>(tile_begin - first_column);
    }
  }
  let_launch_after_start();
  __syncthreads();
  const auto in_tile = [&](std::int64_t at) {
    return static_cast<int>(
        min(static_cast<std::uint32_t>(at) - begin, static_cast<std::uint32_t>(terms)));
  };
  const int start = in_tile(row_begin), count = in_tile(row_end) - start;
  const T* const value = values + start + value_shift;
  const std::int32_t* const column = columns + start + column_shift;
  const T* const x = static_cast<const T*>(job.x.data);
  barrier.wait();
  dot_sum<T> lanes[row_order::lanes];
#pragma unroll 1
  for (int i = 0; i < count; i += in_flight) {
    std::int32_t place[in_flight] = {};
    T element[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k < count) place[k] = column[i + k];
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(i + k < count, x + place[k], element[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      dot_sum<T>& lane = lanes[k % row_order::lanes];
      if (i + k < count) lane = lane + term_of<T, T, T>(value[i + k], element[k]);
    }
  }
  if (row < job.rows) {
    write_row<T>(job, row, finish_parts(fold_within_thread(lanes), conjugate::none));
  }
}

/// Sums a share in a warp.
template <class T, class Column>
__device__ dot_sum<T> sum_queued(const spmv_job& job, const spmv_piece& share, int thread) {
  constexpr int in_flight = 8, apart = static_cast<int>(warp);
  dot_sum<T> low, high;
  nonzero_place<T, Column> from(job, share.nonzero + thread);
#pragma unroll 1
  for (int i = thread; i < share.terms; i += in_flight * apart) {
    dot_sum<T> terms[in_flight];
    load_terms<T, T, T, apart>(job, from, share.terms - i, terms);
    from.move(in_flight * apart);
#pragma unroll
    for (int k = 0; k < in_flight; k += 2) {
      low = low + terms[k];
      high = high + terms[k + 1];
    }
  }
  return fold_across_threads<apart>(low + high);
}

/// Adds up the sums of a row's shares if the one of the calling warp comes last; says whether it
/// does.
template <class T>
__device__ bool is_last_share(const spmv_job& job, std::int64_t place, const spmv_piece& share,
                              dot_sum<T>& sum, int thread) {
  T* const sums = static_cast<T*>(job.queue.sums);
  unsigned before = 0;
  if (thread == 0) {
    __stcg(sums + place, sum.value);
    __threadfence();
    before = atomicAdd(job.queue.counts + share.handover, 1u);
    __threadfence();
  }
  if (__shfl_sync(whole_warp, before, 0) + 1 != static_cast<unsigned>(share.shares())) return false;
  __syncwarp();  // what the first thread has seen, the others see from here on
  warp_tree<dot_sum<T>> tree;
  for (int i = thread; i - thread < share.shares(); i += static_cast<int>(warp)) {
    dot_sum<T> other;
    if (i < share.shares()) other.value = __ldcg(sums + share.handover + i);
    tree.add(add_across_threads<warp>(other, warp), thread);
  }
  sum = tree.total();
  return true;
}

template <class T>
__global__ void __launch_bounds__(row_threads, 4)
    spmv_queued(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const auto found = *reinterpret_cast<volatile std::uint64_t*>(job.queue.count);
  const auto count = static_cast<std::int64_t>(found < job.queue.room ? found : job.queue.room);
  const int thread = static_cast<int>(threadIdx.x % warp);
  for (std::int64_t place = blockIdx.x + std::int64_t{gridDim.x} * (threadIdx.x / warp);
       place < count; place += std::int64_t{gridDim.x} * (row_threads / warp)) {
    const spmv_piece share = job.queue.shares[place];
    if (share.terms == 0) continue;
    dot_sum<T> sum = job.columns.wide ? sum_queued<T, std::int64_t>(job, share, thread)
                                      : sum_queued<T, std::int32_t>(job, share, thread);
    if (share.shares() > 1 && !is_last_share(job, place, share, sum, thread)) continue;
    if (thread == 0) write_row<T>(job, share.row, finish_parts(sum, conjugate::none));
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  // The block that ends last leaves both words empty.
  auto* const ends = reinterpret_cast<unsigned long long*>(job.queue.count) + 1;
  if (atomicAdd(ends, 1ull) == gridDim.x - 1) {
    *ends = 0;
    *job.queue.count = 0;
    count_as_ended(job.ended);
  }
}

}  // namespace tally::backends::cuda
