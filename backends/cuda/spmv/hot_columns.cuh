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
  static_assert(sizeof(T) == 4);
  T element;
  asm volatile(
      "{.reg .pred p; .reg .u32 hot; .reg .s64 cold; setp.lt.s32 p, %3, 0; "
      "shl.b32 hot, %3, 2; add.u32 hot, hot, %1; mad.wide.s32 cold, %3, 4, %2; "
      "@p ld.shared.f32 %0, [hot]; @!p ld.global.f32 %0, [cold];}"
      : "=f"(element)
      : "r"(table), "l"(x), "r"(code));
  return element;
}

/// A thread has so many terms in flight.
template <class T>
inline constexpr int coded_in_flight = 8;
/// A warp has so many.
template <class T>
inline constexpr int coded_batch = coded_in_flight<T> * static_cast<int>(warp);

/// Has the codes of some terms, every 32nd one.
template <class T>
struct term_codes {
  std::int32_t of[coded_in_flight<T>];

  /// Loads them from term `first` on, where they are among the next `left`.
  __device__ void load(const spmv_job& job, std::int64_t first, int left) {
    constexpr int apart = static_cast<int>(warp);
#pragma unroll
    for (int k = 0; k < coded_in_flight<T>; ++k) {
      of[k] = INT32_MIN;  // there is a first hot column
      load_if(k * apart < left, job.hot.codes + first + k * apart, of[k]);
    }
  }
  /// Loads the first ones of a piece.
  __device__ void load(const spmv_job& job, const spmv_piece& piece, int thread) {
    load(job, piece.nonzero + thread, piece.terms - thread);
  }
};

/// Loads every 32nd term from `first` on, where it is among the next `left`, with their codes; the
/// others become +0. `meanwhile` starts other loads before it waits for these.
template <class T, class Meanwhile>
__device__ void load_coded_terms(const spmv_job& job, unsigned table, const term_codes<T>& codes,
                                 std::int64_t first, int left,
                                 dot_sum<T> (&terms)[coded_in_flight<T>],
                                 const Meanwhile& meanwhile) {
  constexpr int in_flight = coded_in_flight<T>, apart = static_cast<int>(warp);
  const T* const values = static_cast<const T*>(job.values.data) + first;
  T value[in_flight] = {}, element[in_flight];
#pragma unroll
  for (int k = 0; k < in_flight; ++k) load_if(k * apart < left, values + k * apart, value[k]);
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    element[k] = load_coded(codes.of[k], table, static_cast<const T*>(job.x.data));
  }
  meanwhile();
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    terms[k] = {};
    if (k * apart < left) terms[k] = term_of<T, T, T>(value[k], element[k]);
  }
}

/// Sums a share of a long row in a warp. `codes` are those of its first terms, and then of those of
/// the next piece.
template <class T>
__device__ dot_sum<T> sum_coded_share(const spmv_job& job, unsigned table, const spmv_piece& piece,
                                      const spmv_piece& next, term_codes<T>& codes, int thread) {
  warp_tree<dot_sum<T>> tree;
#pragma unroll 1
  for (int done = 0; done < piece.terms; done += chunk) {
    const int count = piece.terms - done < chunk ? piece.terms - done : chunk;
    dot_sum<T> low, high;
#pragma unroll 1
    for (int i = thread; i - thread < count; i += coded_batch<T>) {
      dot_sum<T> terms[coded_in_flight<T>];
      const term_codes<T> own = codes;
      load_coded_terms(job, table, own, piece.nonzero + done + i, count - i, terms, [&] {
        const bool ends = i - thread + coded_batch<T> >= count;
        if (ends && done + chunk >= piece.terms) {
          codes.load(job, next, thread);
        } else {
          const int at = ends ? done + chunk + thread : done + i + coded_batch<T>;
          codes.load(job, piece.nonzero + at, piece.terms - at);
        }
      });
#pragma unroll
      for (int k = 0; k < coded_in_flight<T>; k += 2) {
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
  if (piece.shares() > 1) {
    unsigned before = 0;
    if (thread == 0) {
      hand_over(job, piece.handover + piece.before, sum);
      before = atomicAdd(job.hot.counts + piece.handover, 1u);
    }
    if (__shfl_sync(whole_warp, before, 0) + 1 != static_cast<unsigned>(piece.shares())) return;
    // One sum more than there are is +0, which changes none.
    sum = gather_shares(job, piece.handover, piece.shares() + 1, dot_sum<T>(), thread,
                        [] { return false; });
    if (thread == 0) {
      job.hot.counts[piece.handover] = 0;
      count_as_ended(job.ended);
    }
  }
  if (thread == 0) write_row<T>(job, piece.row, finish_parts(sum, conjugate::none));
}

/// Computes a run's terms and sums its rows, in a warp. `codes` are as above.
template <class T>
__device__ void multiply_run(const spmv_job& job, unsigned table, const spmv_piece& piece,
                             const spmv_piece& next, term_codes<T>& codes, warp_run<T>& run,
                             int thread) {
  constexpr int apart = static_cast<int>(warp);
  const term_planes<T, hot_run_terms> terms(run.terms);
  constexpr int rows_a_thread = (hot_run_size + apart - 1) / apart;
  // The bits of offsets above 32 are not needed.
  std::uint32_t low[rows_a_thread] = {};
  const int words = job.offsets.wide ? 2 : 1;
  const auto* const offsets =
      static_cast<const std::uint32_t*>(job.offsets.data) + (piece.row + thread) * words;
#pragma unroll
  for (int k = 0; k < rows_a_thread; ++k) {
    load_if(thread + k * apart < piece.rows, offsets + k * apart * words, low[k]);
  }
#pragma unroll 1
  for (int i = thread; i - thread < piece.terms || i == thread; i += coded_batch<T>) {
    dot_sum<T> loaded[coded_in_flight<T>];
    const term_codes<T> own = codes;
    load_coded_terms(job, table, own, piece.nonzero + i, piece.terms - i, loaded, [&] {
      const int at = i + coded_batch<T>;
      if (at - thread < piece.terms) {
        codes.load(job, piece.nonzero + at, piece.terms - at);
      } else {
        codes.load(job, next, thread);
      }
    });
#pragma unroll
    for (int k = 0; k < coded_in_flight<T>; ++k) {
      if (i + k * apart < piece.terms) terms.put(i + k * apart, loaded[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < rows_a_thread; ++k) {
    const int i = thread + k * apart;
    if (i < piece.rows) run.starts[i] = start_in_run(low[k], piece);
  }
  if (thread == 0) run.starts[piece.rows] = piece.terms;
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
  term_codes<T> codes;  // of the piece; they stay as they are, too
  codes.load(job, piece, thread);
  // The table comes in parts. Blocks begin with different ones, for all would wait for the same
  // part of L2 otherwise.
  constexpr unsigned part = 8192;
  const unsigned bytes = (static_cast<unsigned>(job.hot.count * sizeof(T)) + 15) / 16 * 16;
  const unsigned parts = (bytes + part - 1) / part;
  if (threadIdx.x == 0) {
    taken = warps;
    barrier.expect(parts);
  }
  wait_for_launch_before();
  let_launch_after_start();
  if (brings()) {
#if __CUDA_ARCH__ >= 900
    for (unsigned i = 0; i < parts; ++i) {
      const unsigned at = (i + blockIdx.x) % parts * part;
      barrier.copy(reinterpret_cast<char*>(table) + at,
                   static_cast<const char*>(job.hot.elements) + at,
                   bytes - at < part ? bytes - at : part);
    }
#else
    for (int i = static_cast<int>(threadIdx.x); i < job.hot.count; i += hot_threads<T>) {
      table[i] = static_cast<const T*>(job.hot.elements)[i];
    }
#endif
  }
  __syncthreads();
  barrier.wait();
  const auto in_shared = static_cast<unsigned>(__cvta_generic_to_shared(table));
  while (piece.terms > 0 || piece.is_run()) {
    if (thread == 0) own = atomicAdd(&taken, 1);
    own = __shfl_sync(whole_warp, own, 0);
    const spmv_piece next = piece_of(own);
    if (piece.is_run()) {
      multiply_run(job, in_shared, piece, next, codes, runs[threadIdx.x / warp], thread);
    } else {
      finish_share(job, piece, sum_coded_share(job, in_shared, piece, next, codes, thread), thread);
    }
    piece = next;
  }
}

}  // namespace tally::backends::cuda
