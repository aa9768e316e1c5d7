// Several products of one matrix: a short row in a few threads with one or two columns each, which
// load the same term and adjacent elements of x; then a chunk of a longer row per block.
//
// Promise: a column's sum is that of the row order. A thread has all 8 lanes of a short row; of a
// chunk, 8 adjacent ones of its 64.
#include "backends/common/order/row_order.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/update.cuh"
#include "backends/cuda/spmm/job.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>

namespace tally::backends::cuda {
namespace {

constexpr int lanes = static_cast<int>(row_order::lanes);
constexpr int chunk = static_cast<int>(order::chunk);
constexpr int parts = static_cast<int>(order::lanes) / lanes;  // of a chunk's lanes

template <class W>
__device__ __noinline__ void write_any_column(const spmm_job& job, std::int64_t row, int column,
                                              W sum) {
  spmm_job here = job;
  here.y.data = static_cast<char*>(job.y.data) + column * job.y_step;
  here.addend.data = static_cast<char*>(job.addend.data) + column * job.y_step;
  write_any(here, row, complex_number<W>{sum, W{0}});
}

template <class W>
__device__ void write_column(const spmm_job& job, std::int64_t row, int column, W sum) {
  sum = canonical(sum);
  if (job.computation != type_of<W> || job.y.number != type_of<W> || job.y.complex) {
    return write_any_column(job, row, column, sum);
  }
  W* const y = reinterpret_cast<W*>(static_cast<char*>(job.y.data) + column * job.y_step) +
               row * job.y.increment;
  *y = combine(job, sum, job.reads_addend ? __ldcg(y) : W{0});
}

template <class W, int count>
__device__ void fold_lanes(W (&sums)[lanes][count]) {
#pragma unroll
  for (int half = lanes / 2; half > 0; half /= 2) {
#pragma unroll
    for (int l = 0; l < half; ++l) {
#pragma unroll
      for (int c = 0; c < count; ++c) sums[l][c] = sums[l][c] + sums[l + half][c];
    }
  }
}

/// Queues the chunks of a long row. Wrong offsets may make more than there is room for.
__device__ void queue_chunks(const spmm_job& job, std::int64_t row, std::int64_t terms) {
  if (job.queued == nullptr) return;
  const auto count = static_cast<std::int32_t>((terms + chunk - 1) / chunk);
  const std::uint64_t first = atomicAdd(job.queued, static_cast<unsigned long long>(count));
  for (std::int32_t i = 0; i < count && first + i < job.capacity; ++i) {
    job.chunks[first + i] = {row, i, 0};
  }
}

template <class W, class V, class I, int count>
__global__ void __launch_bounds__(spmm_threads)
    sum_short_rows(const __grid_constant__ spmm_job job) {
  const int in_block = static_cast<int>(threadIdx.x) / job.threads_per_row;
  const int thread = static_cast<int>(threadIdx.x) - in_block * job.threads_per_row;
  const std::int64_t row = std::int64_t{blockIdx.x} * job.rows_per_block + in_block;
  if (in_block >= job.rows_per_block || row >= job.rows) return;
  const std::int64_t begin = job.offset(row), all = job.end(row) - begin;
  if (all > static_cast<std::int64_t>(row_order::short_row)) {
    if (thread == 0) queue_chunks(job, row, all);
    return;
  }
  const int n = static_cast<int>(all);
  const V* const values = static_cast<const V*>(job.values.data) + begin;
  const I* const columns = static_cast<const I*>(job.columns.data) + begin;
  const W* const x = static_cast<const W*>(job.x.data) + thread * count;
  const int stride = static_cast<int>(job.x.increment);
  W sums[lanes][count] = {};
  const auto add = [&](int first, auto some, int end) {
    constexpr int most = decltype(some)::value;
    I column[most];
    V value[most];
#pragma unroll
    for (int l = 0; l < most; ++l) {
      column[l] = first + l < end ? columns[first + l] : 0;
      value[l] = first + l < end ? values[first + l] : V{0};
    }
    elements<W, count> of_x[most];
#pragma unroll
    for (int l = 0; l < most; ++l) {
      if (first + l < end) {
        of_x[l].load_through_l1(x + static_cast<std::int64_t>(column[l]) * stride);
      }
    }
#pragma unroll
    for (int l = 0; l < most; ++l) {
#pragma unroll
      for (int c = 0; c < count; ++c) {
        sums[l][c] = sums[l][c] + static_cast<W>(value[l]) * of_x[l].at(c);
      }
    }
  };
  int i = 0;
  for (; i + lanes <= n; i += lanes) add(i, std::integral_constant<int, lanes>(), i + lanes);
  if (i < n) add(i, std::integral_constant<int, lanes - 1>(), n);
  fold_lanes(sums);
#pragma unroll
  for (int c = 0; c < count; ++c) write_column(job, row, thread * count + c, sums[0][c]);
}

/// Adds the chunks' sums of a row; called by a thread per column.
template <class W>
__device__ W join_chunks(const W* sums, std::int64_t count, int columns) {
  order::tree<W, order::add, 40> all;
  for (std::int64_t i = 0; i < count; ++i) all.add(__ldcg(sums + i * columns));
  return all.total();
}

/// A block has `parts` threads per column.
template <class W, class V>
__global__ void __launch_bounds__(spmm_columns* parts)
    sum_chunks(const __grid_constant__ spmm_job job) {
  __shared__ W of_parts[parts * lanes * spmm_columns];
  __shared__ bool is_last;
  const int part = static_cast<int>(threadIdx.x) / job.width;
  const int column = static_cast<int>(threadIdx.x) - part * job.width;
  const std::uint64_t count = ::min(std::uint64_t{*job.queued}, job.capacity);
  const auto at = [&](int of_part, int l) { return (of_part * lanes + l) * job.width + column; };
  for (std::uint64_t e = blockIdx.x; e < count; e += gridDim.x) {
    const std::int64_t row = job.chunks[e].row;
    const std::int32_t index = job.chunks[e].index;
    const std::int64_t first = job.offset(row), last = job.end(row);
    const std::int64_t begin = first + std::int64_t{index} * chunk;
    const std::int64_t end = ::min(begin + chunk, last);
    W sums[lanes][1] = {};
    for (std::int64_t i = begin + part * lanes; i < end; i += parts * lanes) {
      W value[lanes], of_x[lanes];
#pragma unroll
      for (int l = 0; l < lanes; ++l) {
        const bool is_term = i + l < end;
        const auto j = static_cast<std::size_t>(i + l);
        value[l] = is_term ? static_cast<W>(static_cast<const V*>(job.values.data)[j]) : W{0};
        of_x[l] = is_term
                      ? static_cast<const W*>(job.x.data)[job.columns[j] * job.x.increment + column]
                      : W{0};
      }
#pragma unroll
      for (int l = 0; l < lanes; ++l) sums[l][0] = sums[l][0] + value[l] * of_x[l];
    }
#pragma unroll
    for (int half = parts / 2; half > 0; half /= 2) {
      __syncthreads();  // before the next chunk's, too
      if (part >= half && part < 2 * half) {
#pragma unroll
        for (int l = 0; l < lanes; ++l) of_parts[at(part, l)] = sums[l][0];
      }
      __syncthreads();
      if (part < half) {
#pragma unroll
        for (int l = 0; l < lanes; ++l) {
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

template <class W>
__global__ void __launch_bounds__(copy_rows* copy_lines)
    copy_columns(const __grid_constant__ copy_columns_job job) {
  __shared__ W tile[spmm_columns][copy_rows + 1];
  const std::int64_t first = std::int64_t{blockIdx.x} * copy_rows;
  const int thread = static_cast<int>(threadIdx.x % copy_rows);
  const int rows = static_cast<int>(::min(std::int64_t{copy_rows}, job.rows - first));
  for (int c = static_cast<int>(threadIdx.x / copy_rows); c < job.width;
       c += static_cast<int>(copy_lines)) {
    if (thread < rows) {
      tile[c][thread] = typed::number_at<W>(
          job.x.data, (first + thread) * job.x.increment + c * job.step, job.x.number);
    }
  }
  __syncthreads();
  W* const to = static_cast<W*>(job.to) + first * job.width;
  for (int i = static_cast<int>(threadIdx.x); i < rows * job.width;
       i += static_cast<int>(copy_rows * copy_lines)) {
    to[i] = tile[i % job.width][i / job.width];
  }
}

template <class W, class V>
constexpr spmm_choice choice_of() {
  spmm_choice all;
  all.rows[0][0] = &sum_short_rows<W, V, std::int32_t, 1>;
  all.rows[0][1] = &sum_short_rows<W, V, std::int64_t, 1>;
  all.rows[1][0] = &sum_short_rows<W, V, std::int32_t, 2>;
  all.rows[1][1] = &sum_short_rows<W, V, std::int64_t, 2>;
  all.chunks = &sum_chunks<W, V>;
  all.copy = &copy_columns<W>;
  return all;
}

}  // namespace

spmm_choice spmm_kernels(type accumulator, type values) {
  if (accumulator == type::float64 && values == type::float64) return choice_of<double, double>();
  if (accumulator == type::float64 && values == type::float32) return choice_of<double, float>();
  if (accumulator == type::float32 && values == type::float32) return choice_of<float, float>();
  return {};
}

}  // namespace tally::backends::cuda
