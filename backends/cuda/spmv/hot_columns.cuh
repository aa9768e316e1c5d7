// These kernels compute spmv of a matrix some of whose columns have most of the terms, as those of
// graphs whose degrees follow a power law. A multiprocessor has one block for the whole product,
// with the elements of x that these hot columns are multiplied by in its shared memory; its warps
// take pieces of the matrix, one after another, until none is left. The plan has codes in the place
// of columns: the bits of a negative one but its sign are a place among the hot columns.
//
// Promise: y has the bits of the row order. A warp computes the terms of a run of short rows into
// shared memory and sums each row in 1, 2, 4 or 8 threads; a share of a long row it sums chunk by
// chunk.
//
// The warps that have shares of a split row leave their sums in words, and count them. The one that
// counts the last adds them up, so nobody waits for a block that may not have started.
#pragma once

#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/result.cuh"
#include "backends/cuda/spmv/shape.hpp"
#include "backends/cuda/spmv/short_rows.cuh"
#include "backends/cuda/spmv/split_rows.cuh"

#include <cstdint>

namespace tally::backends::cuda {

/// Copies the elements of x of the hot columns, one after another, to where blocks bring them from.
template <class T>
__global__ void __launch_bounds__(256) gather_hot(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const T* const x = static_cast<const T*>(job.x.data);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < job.hot.count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    static_cast<T*>(job.hot.elements)[i] = x[job.hot.columns[i]];
  }
}

/// Holds a run's terms, and where its rows start among them.
template <class T>
struct alignas(16) warp_run {
  T terms[hot_run_terms];
  int starts[hot_run_size + 1];
};

/// Loads the element of x that a code tells, from the table or from memory. A sign goes where a
/// place is multiplied by the size of an element.
template <class T>
__device__ T load_coded(std::int32_t code, unsigned table, const T* x) {
  T element;
  if constexpr (sizeof(T) == 8) {
    asm volatile(
        "{.reg .pred p; .reg .u32 hot; .reg .s64 cold; setp.lt.s32 p, %3, 0; "
        "shl.b32 hot, %3, 3; add.u32 hot, hot, %1; mad.wide.s32 cold, %3, 8, %2; "
        "@p ld.shared.f64 %0, [hot]; @!p ld.global.f64 %0, [cold];}"
        : "=d"(element)
        : "r"(table), "l"(x), "r"(code));
  } else {
    asm volatile(
        "{.reg .pred p; .reg .u32 hot; .reg .s64 cold; setp.lt.s32 p, %3, 0; "
        "shl.b32 hot, %3, 2; add.u32 hot, hot, %1; mad.wide.s32 cold, %3, 4, %2; "
        "@p ld.shared.f32 %0, [hot]; @!p ld.global.f32 %0, [cold];}"
        : "=f"(element)
        : "r"(table), "l"(x), "r"(code));
  }
  return element;
}

/// Loads every 32nd term from `first` on, where it is among the next `left`; the others become +0.
/// Between the loads that do not depend on others and those that do, `meanwhile` may start its own.
template <class T, int in_flight, class Meanwhile>
__device__ void load_coded_terms(const spmv_job& job, unsigned table, std::int64_t first, int left,
                                 dot_sum<T> (&terms)[in_flight], const Meanwhile& meanwhile) {
  constexpr int apart = static_cast<int>(warp);
  const std::int32_t* const codes = job.hot.codes + first;
  const T* const values = static_cast<const T*>(job.values.data) + first;
  std::int32_t code[in_flight];
  T value[in_flight] = {};
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    code[k] = INT32_MIN;  // there is a first hot column
    load_if(k * apart < left, codes + k * apart, code[k]);
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) load_if(k * apart < left, values + k * apart, value[k]);
  meanwhile();
  T element[in_flight];
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    element[k] = load_coded(code[k], table, static_cast<const T*>(job.x.data));
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    terms[k] = {};
    if (k * apart < left) terms[k] = term_of<T, T, T>(value[k], element[k]);
  }
}

/// Sums a share of a long row in a warp.
template <class T>
__device__ dot_sum<T> sum_coded_share(const spmv_job& job, unsigned table, const spmv_piece& piece,
                                      int thread) {
  constexpr int in_flight = 8;
  warp_tree<dot_sum<T>> tree;
#pragma unroll 1
  for (int done = 0; done < piece.terms; done += chunk) {
    const int count = piece.terms - done < chunk ? piece.terms - done : chunk;
    dot_sum<T> low, high;
#pragma unroll 1
    for (int i = thread; i < count; i += in_flight * static_cast<int>(warp)) {
      dot_sum<T> terms[in_flight];
      load_coded_terms<T>(job, table, piece.nonzero + done + i, count - i, terms, [] {});
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

/// Writes y of a share's row, or leaves the share's sum for the warp that comes last.
template <class T>
__device__ void finish_share(const spmv_job& job, const spmv_piece& piece, dot_sum<T> sum,
                             int thread) {
  if (piece.before != 0) {  // the row has other shares
    const std::int64_t start = job.offset(piece.row), length = job.offset(piece.row + 1) - start;
    const auto chunks_before = [](std::int64_t terms) { return (terms + chunk - 1) / chunk; };
    const unsigned shift = job.share_shift;
    const std::int64_t last = (chunks_before(length) - 1) >> shift;
    const std::int64_t first = piece.handover - (chunks_before(piece.nonzero - start) >> shift);
    unsigned before = 0;
    if (thread == 0) {
      hand_over(job, piece.handover, sum);
      before = atomicAdd(job.hot.counts + first, 1u);
    }
    if (__shfl_sync(whole_warp, before, 0) != static_cast<unsigned>(last)) return;
    // One sum more than there are is +0, which changes none.
    sum = gather_shares(job, first, last + 2, dot_sum<T>(), thread, [] { return false; });
    if (thread == 0) {
      job.hot.counts[first] = 0;
      count_as_ended(job.ended);
    }
  }
  if (thread == 0) write_row<T>(job, piece.row, finish_parts(sum, conjugate::none));
}

/// Computes a run's terms and sums its rows, in a warp.
template <class T>
__device__ void multiply_run(const spmv_job& job, unsigned table, const spmv_piece& piece,
                             warp_run<T>& run, int thread) {
  constexpr int apart = static_cast<int>(warp), at_first = sizeof(T) == 8 ? 6 : 8, later = 4;
  const term_planes<T, hot_run_terms> terms(run.terms);
  constexpr int rows_a_thread = (hot_run_size + apart - 1) / apart;
  // Of offsets the bits above 32 are not needed.
  std::int32_t low[rows_a_thread] = {};
  const int words = job.offsets.wide ? 2 : 1;
  const auto* const offsets =
      static_cast<const std::int32_t*>(job.offsets.data) + (piece.row + thread) * words;
  dot_sum<T> loaded[at_first];
  load_coded_terms<T>(job, table, piece.nonzero + thread, piece.terms - thread, loaded, [&] {
#pragma unroll
    for (int k = 0; k < rows_a_thread; ++k) {
      load_if(thread + k * apart < piece.rows, offsets + k * apart * words, low[k]);
    }
  });
#pragma unroll
  for (int k = 0; k < rows_a_thread; ++k) {
    const int i = thread + k * apart;
    if (i < piece.rows) run.starts[i] = low[k] - static_cast<std::int32_t>(piece.nonzero);
  }
  if (thread == 0) run.starts[piece.rows] = piece.terms;
#pragma unroll
  for (int k = 0; k < at_first; ++k) {
    if (thread + k * apart < piece.terms) terms.put(thread + k * apart, loaded[k]);
  }
#pragma unroll 1
  for (int i = thread + at_first * apart; i < piece.terms; i += later * apart) {
    dot_sum<T> others[later];
    load_coded_terms<T>(job, table, piece.nonzero + i, piece.terms - i, others, [] {});
#pragma unroll
    for (int k = 0; k < later; ++k) {
      if (i + k * apart < piece.terms) terms.put(i + k * apart, others[k]);
    }
  }
  __syncwarp();
  sum_short_rows<static_cast<int>(warp)>(
      staged_rows<T, hot_run_terms>{terms, run.starts, piece.rows}, false,
      [&](int row, const dot_sum<T>& sum) {
        write_row<T>(job, piece.row + row, finish_parts(sum, conjugate::none));
      },
      thread);
  __syncwarp();
}

template <class T>
__global__ void __launch_bounds__(hot_threads<T>, 1)
    spmv_hot_columns(const __grid_constant__ spmv_job job) {
  constexpr int warps = static_cast<int>(hot_threads<T> / warp);
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int taken;  // how many of the block's pieces have been taken
  __shared__ std::int64_t first;
  auto* const runs = reinterpret_cast<warp_run<T>*>(memory);
  T* const table = reinterpret_cast<T*>(runs + warps);
  const int thread = static_cast<int>(threadIdx.x % warp);
  // A plan's pieces stay as they are, so this load need not wait.
  int own = static_cast<int>(threadIdx.x / warp);
  const auto piece_of = [&](int i) {
    const std::int64_t at = std::int64_t{i} * gridDim.x + blockIdx.x;
    return at < job.hot.pieces ? job.pieces[at] : spmv_piece{};
  };
  spmv_piece piece = piece_of(own);
  if (threadIdx.x == 0) {
    taken = warps;
    barrier.expect(1);
  }
  wait_for_launch_before();
  let_launch_after_start();
  if (brings()) {
    first = bring(barrier, table, static_cast<const T*>(job.hot.elements), job.hot.count, 0,
                  job.hot.count);
  }
  __syncthreads();
  barrier.wait();
  const auto in_shared = static_cast<unsigned>(__cvta_generic_to_shared(table - first));
  while (piece.terms > 0 || piece.rows > 0) {
    if (thread == 0) own = atomicAdd(&taken, 1);
    own = __shfl_sync(whole_warp, own, 0);
    const spmv_piece next = piece_of(own);
    if (piece.rows > 0) {
      multiply_run(job, in_shared, piece, runs[threadIdx.x / warp], thread);
    } else {
      finish_share(job, piece, sum_coded_share<T>(job, in_shared, piece, thread), thread);
    }
    piece = next;
  }
}

}  // namespace tally::backends::cuda
