// Sums of short rows of several products, and their results. A thread has one or two columns.
//
// Promise: a column's sum is that of the row order. A thread owns lanes of its columns, and adds to
// each in order.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/update.cuh"
#include "backends/cuda/spmm/job.hpp"

#include <algorithm>

namespace tally::backends::cuda {

constexpr int spmm_lanes = static_cast<int>(row_order::lanes);

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

/// Folds `own` lanes of `count` columns in halves.
template <class W, int own, int count>
__device__ void fold_lanes(W (&sums)[own][count]) {
#pragma unroll
  for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
    for (int l = 0; l < half; ++l) {
#pragma unroll
      for (int c = 0; c < count; ++c) sums[l][c] = sums[l][c] + sums[l + half][c];
    }
  }
}

/// Adjacent columns of X that a thread multiplies.
template <class W, int count>
struct x_columns {
  const W* first;
  std::ptrdiff_t stride;  ///< between rows of X

  template <class I>
  __device__ elements<W, count> row(I i) const {
    elements<W, count> loaded;
    loaded.load_through_l1(first + i * stride);
    return loaded;
  }
};

/// Adds n terms, `apart` from one another, to the lanes in turn. `in_flight` elements of X are
/// loaded at a time, while the next columns are.
template <int apart, int in_flight, class W, class V, class I, int own, int count>
__device__ void add_terms(const V* values, const I* columns, int n, const x_columns<W, count>& x,
                          W (&sums)[own][count]) {
  constexpr int step = own > in_flight ? own : in_flight;
  static_assert(step % in_flight == 0 && step % own == 0);
  I column[in_flight];
  const auto load_columns = [&](int i) {
#pragma unroll
    for (int e = 0; e < in_flight; ++e) column[e] = i + e < n ? columns[(i + e) * apart] : 0;
  };
  load_columns(0);
  for (int first = 0; first < n; first += step) {
#pragma unroll
    for (int part = 0; part < step; part += in_flight) {
      const int i = first + part;
      if (part > 0 && i >= n) break;
      elements<W, count> of_x[in_flight];
#pragma unroll
      for (int e = 0; e < in_flight; ++e) {
        if (i + e < n) of_x[e] = x.row(column[e]);
      }
      if (i + in_flight < n) load_columns(i + in_flight);
#pragma unroll
      for (int e = 0; e < in_flight; ++e) {
        if (i + e >= n) continue;
        const W value = static_cast<W>(values[(i + e) * apart]);
        W(&lane)[count] = sums[(part + e) % own];
#pragma unroll
        for (int c = 0; c < count; ++c) lane[c] = lane[c] + value * of_x[e].at(c);
      }
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

}  // namespace tally::backends::cuda
