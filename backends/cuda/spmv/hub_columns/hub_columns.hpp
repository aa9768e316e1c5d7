// Hub columns, which have most of the terms, as in power-law graphs. Products keep their elements
// of x in shared memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Work of one warp of a plan, in one load.
struct alignas(16) warp_piece {
  std::int32_t row = 0;      ///< first row
  std::int32_t nonzero = 0;  ///< first term
  std::int32_t terms = 0;
  /// Rows of a row block; 0 for a row's only segment; for one of several the complement of the
  /// carry-out's index.
  std::int32_t rows = 0;

  TALLY_HOST_DEVICE bool is_row_block() const { return rows > 0; }
  TALLY_HOST_DEVICE bool is_split() const { return rows < 0; }
  TALLY_HOST_DEVICE std::int32_t carry_out() const { return ~rows; }
};

/// Carry-outs of one row.
struct carry_out_row {
  std::int32_t first = 0;
  std::int32_t shares = 0;
};

/// Hub columns and codes of all terms.
struct hub_columns {
  const std::int32_t* codes = nullptr;    ///< columns, or sign bit and index of a hub column
  const std::int32_t* columns = nullptr;  ///< hub columns
  const warp_piece* pieces = nullptr;
  const carry_out_row* handed = nullptr;  ///< by carry-out
  int count = 0;                          ///< of hub columns
  int piece_count = 0;
  void* elements = nullptr;    ///< of x, in whole units of 16 bytes
  unsigned* counts = nullptr;  ///< carry-outs present, by row
};

/// Kernel parameter.
struct hub_columns_job {
  spmv_job product;
  hub_columns hub;
};
using hub_columns_kernel = void(hub_columns_job);

struct hub_columns_choice {
  hub_columns_kernel* gather = nullptr;    ///< in any grid of blocks of 256 threads
  hub_columns_kernel* multiply = nullptr;  ///< one block per SM; null for other types
  unsigned threads = 0;                    ///< of `multiply`
  std::size_t bytes = 0;                   ///< dynamic shared memory, without the table
};
hub_columns_choice hub_columns_kernels(type values, type x);

}  // namespace tally::backends::cuda
