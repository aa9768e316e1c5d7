// Kernel for matrices of four arrays, of any types. A warp has four rows at a time, then the long
// ones among them in turn.
#pragma once

#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {

/// Sums a row in a warp, chunk by chunk. A thread owns the lanes of its index and 32 above.
template <class A>
__device__ dot_sum<A> sum_any_long_row(const spmv_job& job, std::int64_t begin, std::int64_t end,
                                       int thread) {
  constexpr int in_flight = 4;
  warp_tree<dot_sum<A>> tree;
#pragma unroll 1
  for (; begin < end; begin += chunk) {
    const int count = end - begin < chunk ? static_cast<int>(end - begin) : chunk;
    dot_sum<A> low, high;
#pragma unroll 1
    for (int i = thread; i < count; i += in_flight * static_cast<int>(warp)) {
      dot_sum<A> terms[in_flight];
      const auto at = [&](int k) { return i + k * static_cast<int>(warp); };
      load_any_terms<A>(
          job, [&](int k) { return at(k) < count; }, [&](int k) { return begin + at(k); }, terms);
#pragma unroll
      for (int k = 0; k < in_flight; k += 2) {
        low = low + terms[k];
        high = high + terms[k + 1];
      }
    }
    tree.add(fold_across_threads<warp>(low + high), thread);
  }
  return tree.total();
}

template <class A>
__global__ void __launch_bounds__(any_row_threads)
    spmv_any_rows(const __grid_constant__ spmv_job job) {
  constexpr int a_row = static_cast<int>(threads_per_any_row);
  static_assert(a_row == row_lanes);  // one lane per thread
  const int thread = static_cast<int>(threadIdx.x % warp);
  const std::int64_t row =
      std::int64_t{blockIdx.x} * (any_row_threads / a_row) + threadIdx.x / a_row;
  wait_for_launch_before();
  std::int64_t begin = 0, end = 0;
  if (row < job.rows) {
    begin = job.offset(row);
    end = job.end(row);
  }
  const bool is_long = end - begin > short_row;
  constexpr int in_flight = 4;
  dot_sum<A> sum;
  const int count = is_long || end < begin ? 0 : static_cast<int>(end - begin);
#pragma unroll 1
  for (int i = thread % a_row; i < count; i += in_flight * a_row) {
    dot_sum<A> terms[in_flight];
    load_any_terms<A>(
        job, [&](int k) { return i + k * a_row < count; },
        [&](int k) { return begin + i + k * a_row; }, terms);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) sum = sum + terms[k];
  }
  sum = fold_across_threads<a_row>(sum);
  unsigned long_rows = __ballot_sync(whole_warp, is_long && thread % a_row == 0);
  while (long_rows != 0) {
    const int from = __ffs(static_cast<int>(long_rows)) - 1;
    long_rows &= long_rows - 1;
    const dot_sum<A> of_row = sum_any_long_row<A>(job, __shfl_sync(whole_warp, begin, from),
                                                  __shfl_sync(whole_warp, end, from), thread);
    if (thread == from) sum = of_row;
  }
  let_launch_after_start();
  if (row < job.rows && thread % a_row == 0) {
    write_row<A>(job, row, finish_parts(sum, job.conjugated));
  }
}

}  // namespace tally::backends::cuda
