// Chunks of rows of more than 128 terms without a plan, which kernels of short rows have queued: a
// block per chunk. The last block of a row adds its chunks' sums.
#pragma once

#include "backends/common/order/tree.hpp"
#include "backends/cuda/spmm/rows.cuh"

#include <tally/numerics/order.hpp>

namespace tally::backends::cuda {

/// Adds the chunks' sums of a row; called by a thread per column.
template <class W>
__device__ W join_chunks(const W* sums, std::int64_t count, int columns) {
  order::tree<W, order::add, 40> all;
  for (std::int64_t i = 0; i < count; ++i) all.add(__ldcg(sums + i * columns));
  return all.total();
}

/// Threads per column of a block.
constexpr int parts = static_cast<int>(order::lanes) / spmm_lanes;

template <class W, class V>
__global__ void __launch_bounds__(spmm_columns* parts)
    sum_chunks(const __grid_constant__ spmm_job job) {
  __shared__ W of_parts[parts * spmm_lanes * spmm_columns];
  __shared__ bool is_last;
  const int part = static_cast<int>(threadIdx.x) / job.width;
  const int column = static_cast<int>(threadIdx.x) - part * job.width;
  const std::uint64_t count = ::min(std::uint64_t{*job.queued}, job.capacity);
  const auto at = [&](int of_part, int l) {
    return (of_part * spmm_lanes + l) * job.width + column;
  };
  for (std::uint64_t e = blockIdx.x; e < count; e += gridDim.x) {
    const std::int64_t row = job.chunks[e].row;
    const std::int32_t index = job.chunks[e].index;
    const std::int64_t first = job.offset(row), last = job.end(row);
    const std::int64_t begin = first + std::int64_t{index} * chunk;
    const std::int64_t end = ::min(begin + chunk, last);
    W sums[spmm_lanes][1] = {};
    for (std::int64_t i = begin + part * spmm_lanes; i < end; i += parts * spmm_lanes) {
      W value[spmm_lanes], of_x[spmm_lanes];
#pragma unroll
      for (int l = 0; l < spmm_lanes; ++l) {
        const bool is_term = i + l < end;
        const auto j = static_cast<std::size_t>(i + l);
        value[l] = is_term ? static_cast<W>(static_cast<const V*>(job.values.data)[j]) : W{0};
        of_x[l] = is_term
                      ? static_cast<const W*>(job.x.data)[job.columns[j] * job.x.increment + column]
                      : W{0};
      }
#pragma unroll
      for (int l = 0; l < spmm_lanes; ++l) sums[l][0] = sums[l][0] + value[l] * of_x[l];
    }
#pragma unroll
    for (int half = parts / 2; half > 0; half /= 2) {
      __syncthreads();  // before the next chunk's, too
      if (part >= half && part < 2 * half) {
#pragma unroll
        for (int l = 0; l < spmm_lanes; ++l) of_parts[at(part, l)] = sums[l][0];
      }
      __syncthreads();
      if (part < half) {
#pragma unroll
        for (int l = 0; l < spmm_lanes; ++l) {
          sums[l][0] = sums[l][0] + of_parts[at(part + half, l)];
        }
      }
    }
    fold_lanes(sums);
    const std::int64_t chunks = (last - first + chunk - 1) / chunk;
    if (chunks <= 1) {
      if (part == 0) write_column(job, row, column, sums[0][0]);
      continue;
    }
    W* const all = static_cast<W*>(job.sums) + e * static_cast<unsigned>(job.width) + column;
    if (part == 0) {
      *all = sums[0][0];
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      is_last = atomicAdd(&job.chunks[e - static_cast<std::uint64_t>(index)].arrived, 1) + 1 ==
                static_cast<std::uint64_t>(chunks);
    }
    __syncthreads();
    if (is_last && part == 0) {
      __threadfence();
      write_column(job, row, column,
                   join_chunks(all - std::int64_t{index} * job.width, chunks, job.width));
    }
  }
}

}  // namespace tally::backends::cuda
