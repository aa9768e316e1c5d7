// Hub columns, which have most of the terms, as in graphs whose degrees follow a power law.
// Products keep their elements of x in shared memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Work of one warp of a plan, loaded in 16 bytes.
struct alignas(16) warp_piece {
  std::int32_t row = 0;      ///< first row
  std::int32_t nonzero = 0;  ///< first term
  std::int32_t terms = 0;
  /// Rows of a row block; 0 for a row's only segment; for one of several the complement of its
  /// carry-out's index.
  std::int32_t rows = 0;

  TALLY_HOST_DEVICE bool is_run() const { return rows > 0; }
  TALLY_HOST_DEVICE bool is_split() const { return rows < 0; }
  TALLY_HOST_DEVICE std::int32_t handover() const { return ~rows; }
};

/// Carry-outs of the row that a carry-out belongs to.
struct handed_row {
  std::int32_t first = 0;
  std::int32_t shares = 0;
};

/// Hub columns and the codes of all terms, in a plan.
struct hot_columns {
  const std::int32_t* codes = nullptr;    ///< column, or sign bit and index of a hub column
  const std::int32_t* columns = nullptr;  ///< hub columns
  const warp_piece* pieces = nullptr;
  const handed_row* handed = nullptr;  ///< one per carry-out
  int count = 0;                       ///< of hub columns
  int piece_count = 0;
  void* elements = nullptr;    ///< hub columns' elements of x, in whole units of 16 bytes
  unsigned* counts = nullptr;  ///< carry-outs present, by row
};

/// Kernel parameter.
struct hot_columns_job {
  spmv_job product;
  hot_columns hot;
};
using hot_columns_kernel = void(hot_columns_job);

/// Kernels of hub columns.
struct hot_columns_choice {
  hot_columns_kernel* gather = nullptr;    ///< in any grid of blocks of 256 threads
  hot_columns_kernel* multiply = nullptr;  ///< one block per SM; null for other types
  unsigned threads = 0;                    ///< per block of `multiply`
  std::size_t bytes = 0;  ///< dynamic shared memory of `multiply`, without the table
};
hot_columns_choice hot_columns_kernels(type values, type x);

}  // namespace tally::backends::cuda
