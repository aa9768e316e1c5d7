// Uneven rows of few terms in the mean, without a plan: one row block per block of threads. The
// launch before has cut the rows. A block sums the rows that begin in its length of the merge path,
// long ones by warps; of a long row that is the last, the first chunk. Each further chunk belongs
// to the row block before the one in which it begins, which is inside the row. The block whose
// chunk is the last of a row to come adds their sums: none waits for another.
//
// Promise: y has the bits of the row order. Offsets may be wrong (job.hpp).
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/queued_rows/segment_queue.cuh"
#include "backends/cuda/spmv/row_blocks/cut.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {
namespace {

constexpr int uneven_threads = 128;
/// Terms per thread at a time, and blocks per SM, which bound registers (tuning/spmv.md:
/// has_uneven_rows_unplanned).
constexpr int uneven_in_flight = 6;
template <class T>
constexpr unsigned uneven_blocks_per_sm = sizeof(T) == 8 ? 8 : 10;

/// Length of a row block on the merge path. Of two adjacent ones that a chunk touches one is inside
/// its row.
constexpr int uneven_path = chunk / 2;
/// Terms of a row block, at most: the rest of its last row comes on top.
constexpr int uneven_block_terms = uneven_path + short_row - 1;
static_assert(uneven_block_terms <= uneven_in_flight * uneven_threads);  // at once

template <class T>
using uneven_terms = term_planes<T, chunk>;

struct uneven_job : blocks_job {
  using blocks_job::blocks_job;

  void* sums = nullptr;       ///< of chunks, by row block
  unsigned* added = nullptr;  ///< sums present, by the row block in which the row begins
};

__global__ void __launch_bounds__(cut_threads)
    cut_uneven_rows(const __grid_constant__ uneven_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  cut<uneven_path, true>(
      static_cast<int>(job.rows), job.blocks, job.count,
      [&](int row) { return narrow_offset(job, row); },
      [&](const cut_row& own, bool is_last) {
        if (is_last && own.end - own.begin > chunk) {
          job.added[(own.begin + own.row) / uneven_path] = 0;
        }
      });
}

/// Sums chunk `k` of a row of `length` terms from `begin` on, and writes y if it is the last of the
/// row to come.
template <class T>
__device__ void sum_chunk_of_row(const uneven_job& job, const uneven_terms<T>& terms, int row,
                                 int begin, int length, int k) {
  const int first = begin + k * chunk, count = ::min(length - k * chunk, chunk);
  stage_streamed<T, uneven_threads, uneven_in_flight>(job, terms, first, count);
  __syncthreads();
  if (threadIdx.x >= warp) return;
  const int thread = static_cast<int>(threadIdx.x);
  dot_sum<T> sum = sum_chunk(terms, 0, count);
  const unsigned place = static_cast<unsigned>(row + begin);
  const auto block_of = [place](std::int64_t i) {
    return (place + static_cast<unsigned>(i) * chunk) / uneven_path - (i > 0);
  };
  if (length > chunk && !add_if_last_segment(static_cast<T*>(job.sums), job.added + block_of(0), k,
                                             (length - 1) / chunk + 1, sum, thread, block_of)) {
    return;
  }
  if (thread == 0) write_row<T>(job, row, finish_parts(sum, conjugate::none));
}

/// Sums the chunk that belongs to a row block inside a row, if any.
template <class T>
__device__ void sum_inner_chunk(const uneven_job& job, const uneven_terms<T>& terms,
                                const int4& words) {
  const int row = within(words.x, static_cast<int>(job.rows) - 1);
  const int begin = within(words.y, static_cast<int>(job.nonzeros));
  const int length = within(words.w, static_cast<int>(job.nonzeros) - begin);
  const unsigned place = static_cast<unsigned>(row + begin);
  const unsigned next = (blockIdx.x + 1) * uneven_path;  // where the next row block begins
  if (place >= next) return;                             // wrong offsets
  const unsigned k = (next - place + chunk - 1) / chunk;
  if (place + k * chunk >= next + uneven_path || k * chunk >= static_cast<unsigned>(length)) return;
  sum_chunk_of_row<T>(job, terms, row, begin, length, static_cast<int>(k));
}

template <class T>
__global__ void __launch_bounds__(uneven_threads, uneven_blocks_per_sm<T>)
    spmv_uneven_rows(const __grid_constant__ uneven_job job) {
  __shared__ T memory[chunk];
  __shared__ int starts[uneven_path + 1];
  const uneven_terms<T> terms(memory);
  wait_for_launch_before();
  let_launch_after_start();
  int4 words = __ldcg(reinterpret_cast<const int4*>(job.blocks) + blockIdx.x);
  if (words.z == inside_row) return sum_inner_chunk<T>(job, terms, words);
  const bool ends_long = words.z < 0;
  if (ends_long) words.z = ~words.z;
  const block_range block(job, words, uneven_path, uneven_block_terms);
  constexpr int rows_per_thread = (uneven_path + uneven_threads - 1) / uneven_threads;
  std::int32_t offsets[rows_per_thread] = {};
  const auto own_row = [](int k) { return static_cast<int>(threadIdx.x) + k * uneven_threads; };
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    load_if(own_row(k) < block.rows,
            static_cast<const std::int32_t*>(job.offsets.data) + block.row + own_row(k),
            offsets[k]);
  }
  stage_streamed<T, uneven_threads, uneven_in_flight>(job, terms, block.nonzero, block.terms);
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    if (own_row(k) < block.rows) starts[own_row(k)] = block.start_of(offsets[k]);
  }
  if (threadIdx.x == 0) starts[block.rows] = block.terms;
  __syncthreads();
  const auto write = [&](int i, const dot_sum<T>& sum) {
    write_row<T>(job, block.row + std::int64_t{i}, finish_parts(sum, conjugate::none));
  };
  // Each warp looks through every fourth row for long ones.
  constexpr int warps = uneven_threads / static_cast<int>(warp);
#pragma unroll 1
  for (int first = 0; block.terms > short_row && first < block.rows; first += uneven_threads) {
    const int i = first + static_cast<int>(threadIdx.x % warp * warps + threadIdx.x / warp);
    const bool is_long = i < block.rows && starts[i + 1] - starts[i] > short_row;
#pragma unroll 1
    for (unsigned left = __ballot_sync(whole_warp, is_long); left != 0; left &= left - 1) {
      const int row = __shfl_sync(whole_warp, i, __ffs(static_cast<int>(left)) - 1);
      const dot_sum<T> sum = sum_chunk(terms, starts[row], starts[row + 1] - starts[row]);
      if (threadIdx.x % warp == 0) write(row, sum);
    }
  }
  sum_short_rows<uneven_threads>(staged_rows<T, chunk>{terms, starts, block.rows}, false, write);
  if (!ends_long) return;
  __syncthreads();  // the terms have been read
  const int row = block.row + block.rows;
  if (row >= job.rows) return;  // wrong offsets
  const int begin = narrow_offset(job, row);
  const int length = narrow_offset(job, row + 1) - begin;
  if (length > 0) sum_chunk_of_row<T>(job, terms, row, begin, length, 0);
}

}  // namespace

bool multiply_uneven_rows(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  if (call.product.sums_values() || !call.is_plain() || a.row_ends ||
      !has_uneven_rows_unplanned(a)) {
    return false;
  }
  const std::size_t count = (a.rows + a.nonzeros()) / uneven_path + 1;
  uneven_job job(call.job);
  const call_memory memory(
      count * (sizeof *job.blocks + size_of(call.element()) + sizeof *job.added), call.current,
      call.stream, call.is_captured());
  job.count = static_cast<int>(count);
  job.blocks = static_cast<row_block*>(memory.data());
  job.sums = job.blocks + count;
  job.added = reinterpret_cast<unsigned*>(static_cast<std::byte*>(job.sums) +
                                          count * size_of(call.element()));
  call.launch(&cut_uneven_rows, cut_shape(a.rows), job);
  with_special(call.element(), [&]<class T>() {
    call.launch(&spmv_uneven_rows<T>,
                {.blocks = static_cast<unsigned>(count), .threads = uneven_threads}, job);
  });
  return true;
}

}  // namespace tally::backends::cuda
