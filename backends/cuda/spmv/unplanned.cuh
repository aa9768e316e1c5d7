// These kernels compute spmv of a large matrix without a plan, in two launches: each row has a few
// threads, by the mean length alone. Those that find out that theirs is long queue its shares, a
// chunk each, which the warps of the second launch take.
//
// Promise: y has the bits of the row order. Offsets may be wrong, as for tiles (job.hpp).
#pragma once

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

template <class T, int threads>
__global__ void __launch_bounds__(row_threads)
    spmv_rows_unplanned(const __grid_constant__ spmv_job job) {
  const std::int64_t row =
      std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads;
  wait_for_launch_before();
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
