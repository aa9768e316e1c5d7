// Cuts rows into row blocks. Row i begins at i plus its offset on the merge path, and is in the row
// block whose length of the path that is in, unless it is long and the last of these.
#pragma once

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/row_blocks/row_blocks.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// A row of a matrix that is cut, and its neighbours' offsets.
struct cut_row {
  int row;
  int before = 0, begin = 0, end = 0;  ///< offsets of the row before, of this one, of the next
};

/// `end_row` of a row block inside a row: `row` is that row, `nonzero` its first term, and
/// `end_nonzero` its length.
inline constexpr std::int32_t inside_row = INT32_MIN;

/// Writes ends of row blocks where the row has one, and row blocks without rows after it; returns
/// whether the row is the last of its row block. With `tells_long` the end of a row block before a
/// long row is inverted, and those after it are inside it. Called by whole warps; the row may be
/// beyond the last.
template <int path, bool tells_long>
__device__ bool cut_at(const cut_row& at, int rows, row_block* blocks, int count) {
  const bool exists = at.row < rows;
  const int previous = at.row == 0 ? -1 : (at.before + at.row - 1) / path;
  const int own = (at.begin + at.row) / path;
  const int next = at.row == rows - 1 ? count : (at.end + at.row + 1) / path;
  if (exists) {
    auto* const halves = reinterpret_cast<int2*>(blocks + own);
    if (previous < own) halves[0] = {at.row, at.begin};
    // A long row's terms would not fit.
    if (own < next) {
      halves[1] = at.end - at.begin > short_row ? int2{tells_long ? ~at.row : at.row, at.begin}
                                                : int2{at.row + 1, at.end};
    }
  }
  // Many are written by the whole warp.
  constexpr int few = 8;
  const int thread = static_cast<int>(threadIdx.x % warp), followed = exists ? next - own - 1 : 0;
  const row_block none = tells_long ? row_block{at.row, at.begin, inside_row, at.end - at.begin}
                                    : row_block{at.row + 1, at.end, at.row + 1, at.end};
  if (followed <= few) {
    for (int i = own + 1; i <= own + followed; ++i) blocks[i] = none;
  }
  unsigned left = __ballot_sync(whole_warp, followed > few);
  for (; left != 0; left &= left - 1) {
    const int from = __ffs(static_cast<int>(left)) - 1;
    const int first = __shfl_sync(whole_warp, own, from) + 1;
    const int last = __shfl_sync(whole_warp, next, from);
    const int row = __shfl_sync(whole_warp, none.row, from);
    const int nonzero = __shfl_sync(whole_warp, none.nonzero, from);
    const int end_nonzero = __shfl_sync(whole_warp, none.end_nonzero, from);
    for (int i = first + thread; i < last; i += static_cast<int>(warp)) {
      blocks[i] = {row, nonzero, tells_long ? inside_row : row, end_nonzero};
    }
  }
  return exists && own < next;
}

/// Threads per block of the kernels that cut, and rows per thread (tuning/spmv.md:
/// cut_rows_per_thread).
constexpr int cut_threads = 256, cut_rows_per_thread = 2;

inline launch_shape cut_shape(std::size_t rows) {
  return {.blocks = blocks_of(rows, cut_threads * cut_rows_per_thread), .threads = cut_threads};
}

/// Cuts a warp's rows, and calls `each(row, is_last)` for each of a thread: whether it is the last
/// of its row block.
template <int path, bool tells_long, class Offset, class Each>
__device__ void cut(int rows, row_block* blocks, int count, const Offset& offset_of,
                    const Each& each) {
  constexpr int apart = static_cast<int>(warp);
  const int thread = static_cast<int>(threadIdx.x % warp);
  const int first = static_cast<int>(blockIdx.x * cut_threads + threadIdx.x - threadIdx.x % warp) *
                        cut_rows_per_thread +
                    thread;
  int own[cut_rows_per_thread] = {}, beside[cut_rows_per_thread] = {};
#pragma unroll
  for (int k = 0; k < cut_rows_per_thread; ++k) {
    const int row = first + k * apart;
    if (row <= rows) own[k] = offset_of(row);
    // The row before the first and the one after the last; between them threads ask each other.
    if (thread == 0 && row > 0 && row <= rows) beside[k] = offset_of(row - 1);
    if (thread == apart - 1 && row < rows) beside[k] = offset_of(row + 1);
  }
#pragma unroll
  for (int k = 0; k < cut_rows_per_thread; ++k) {
    cut_row at{first + k * apart, __shfl_up_sync(whole_warp, own[k], 1), own[k],
               __shfl_down_sync(whole_warp, own[k], 1)};
    if (thread == 0) at.before = beside[k];
    if (thread == apart - 1) at.end = beside[k];
    const bool is_last = cut_at<path, tells_long>(at, rows, blocks, count);
    each(at, is_last);
  }
}

/// Kernel parameter.
struct blocks_job : spmv_job {
  explicit blocks_job(const spmv_job& job) : spmv_job(job) {}

  row_block* blocks = nullptr;
  int count = 0;
};

/// Returns an offset, clamped.
__device__ inline int narrow_offset(const spmv_job& job, int row) {
  const int at = static_cast<const std::int32_t*>(job.offsets.data)[row];
  return static_cast<unsigned>(at) < static_cast<unsigned>(job.nonzeros)
             ? at
             : static_cast<int>(job.nonzeros);
}

__device__ inline int within(int n, int limit) { return ::min(::max(n, 0), limit); }

/// Row block whose every index is clamped: with wrong offsets it may be anything.
struct block_range {
  int row = 0, rows = 0;
  int nonzero = 0, terms = 0;

  block_range() = default;
  /// At most `max_rows` and `max_terms`.
  __device__ block_range(const spmv_job& job, const int4& words, int max_rows, int max_terms) {
    row = within(words.x, static_cast<int>(job.rows));
    nonzero = within(words.y, static_cast<int>(job.nonzeros));
    rows = within(words.z - row, ::min(static_cast<int>(job.rows) - row, max_rows));
    terms = within(words.w - nonzero, ::min(static_cast<int>(job.nonzeros) - nonzero, max_terms));
  }
  /// Returns the index of a row's first term, from its offset, which may have changed.
  __device__ int start_of(std::int32_t offset) const {
    return static_cast<int>(
        ::min(static_cast<unsigned>(offset - nonzero), static_cast<unsigned>(terms)));
  }
};

}  // namespace tally::backends::cuda
