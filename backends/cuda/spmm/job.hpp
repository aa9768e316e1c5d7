// Kernels of spmm and their parameter.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Columns per launch.
inline constexpr unsigned spmm_columns = 32;

/// Threads per block.
inline constexpr unsigned spmm_threads = 128;
/// Rows per tile, at most; tiles per SM, which bounds registers (tuning/spmm.md).
inline constexpr int max_tile_rows = 256;
inline constexpr unsigned spmm_tiles_per_sm = 7;
/// Terms of a row that is not cut into chunks, at most.
inline constexpr int max_short_row = static_cast<int>(row_order::short_row);
inline constexpr unsigned copy_rows = 32, copy_lines = 8;

/// A chunk of a row that is longer than `short_row`.
struct alignas(16) long_row_chunk {
  std::int64_t row;
  std::int32_t index;
  std::uint32_t arrived;  ///< of the row's chunks, at its first
};

/// x has rows of adjacent elements, `x.increment` apart; y's columns are `y_step` real numbers
/// apart.
struct spmm_job : spmv_job {
  explicit spmm_job(const spmv_job& product) : spmv_job(product) {}

  int width = 0;            ///< columns of x
  int threads_per_row = 1;  ///< of one or two columns each
  int rows_per_block = 1;
  std::ptrdiff_t y_step = 0;
  // Blocks of row segments have shares of these threads.
  int threads_per_share = 1;
  unsigned shares = 1;
  std::int64_t segments = 0;
  // Chunks of long rows, in any order, those of a row adjacent; null if no row is long.
  unsigned long long* queued = nullptr;  ///< their number
  long_row_chunk* chunks = nullptr;
  std::uint64_t capacity = 0;
  void* sums = nullptr;  ///< of each chunk, by column
};

/// Copies columns to rows of adjacent elements.
struct copy_columns_job {
  typed_vector x;  ///< column 0
  std::ptrdiff_t step;
  std::int64_t rows;
  int width;
  void* to;
};

struct spmm_row_kernels {
  void (*tiles)(spmm_job) = nullptr;
  void (*parts[4])(spmm_job) = {};          ///< by the logarithm of the groups of threads per row
  void (*pieces)(spmm_job) = nullptr;       ///< in blocks of spmm_threads
  void (*wide_pieces)(spmm_job) = nullptr;  ///< in blocks of twice as many
};

struct spmm_choice {
  /// Indexed by the columns per thread less 1, and by whether columns are int64.
  spmm_row_kernels rows[2][2];
  void (*chunks)(spmm_job) = nullptr;
  void (*copy)(copy_columns_job) = nullptr;
};

/// Returns the kernels that sum rows of values V in A, both real; null ones if there are none.
spmm_choice spmm_kernels(type accumulator, type values);

}  // namespace tally::backends::cuda
