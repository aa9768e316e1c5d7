// Kernel of a plan without long rows: a few threads per row.
#pragma once

#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {

template <class A, class V, class X, class Column, int threads>
__device__ dot_sum<A> sum_row(const spmv_job& job, std::int64_t start, int count) {
  constexpr int own = row_lanes / threads;  // lanes per thread
  constexpr int in_flight = own < 4 ? 4 : own;
  dot_sum<A> s[own];
  // With 2 threads, unrolling takes too many registers (tuning/spmv.md).
  constexpr int unrolled = threads == 2 ? 1 : 4;
  int i = static_cast<int>(threadIdx.x) % threads;
  nonzero_cursor<V, Column> from(job, start + i);
#pragma unroll(unrolled)
  for (; i < count; i += in_flight * threads) {
    dot_sum<A> terms[in_flight];
    load_terms<A, V, X, threads>(job, from, count - i, terms);
    from.move(in_flight * threads);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) s[k % own] = s[k % own] + terms[k];
  }
  return fold_across_threads<threads>(fold_within_thread(s));
}

template <class A, class V, class X, int threads>
__global__ void __launch_bounds__(row_threads) spmv_rows(const __grid_constant__ spmv_job job) {
  const std::int64_t row =
      std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads;
  std::int64_t start = 0;
  int count = 0;
  if (row < job.rows) {  // plan data: no need to wait
    start = job.offset(row);
    count = static_cast<int>(job.offset(row + 1) - start);
  }
  wait_for_launch_before();
  dot_sum<A> sum;
  if (job.columns.wide) {
    sum = sum_row<A, V, X, std::int64_t, threads>(job, start, count);
  } else {
    sum = sum_row<A, V, X, std::int32_t, threads>(job, start, count);
  }
  let_launch_after_start();
  if (row < job.rows && threadIdx.x % threads == 0) {
    write_row<A>(job, row, finish_parts(sum, job.conjugated));
  }
}

}  // namespace tally::backends::cuda
