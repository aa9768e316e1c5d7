// A matrix may have columns that have most of the terms, as those of graphs whose degrees follow a
// power law. Products then keep the elements of x that these hot columns are multiplied by in
// shared memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A plan gives each warp such pieces, which it loads 16 bytes at a time.
struct alignas(16) warp_piece {
  std::int32_t row = 0;      ///< the first row
  std::int32_t nonzero = 0;  ///< the first term's
  std::int32_t terms = 0;
  /// A run has the number of its rows here, and the only share of a row 0. One of several shares
  /// has the complement of the place where its sum is handed over.
  std::int32_t rows = 0;

  TALLY_HOST_DEVICE bool is_run() const { return rows > 0; }
  TALLY_HOST_DEVICE bool is_split() const { return rows < 0; }
  TALLY_HOST_DEVICE std::int32_t handover() const { return ~rows; }
};

/// Says of which row the sum at a place is, by the places of all that row's shares.
struct handed_row {
  std::int32_t first = 0;
  std::int32_t shares = 0;
};

/// A plan has found these hot columns, and has codes of all terms.
struct hot_columns {
  const std::int32_t* codes = nullptr;    ///< columns, or the places of hot ones with a sign
  const std::int32_t* columns = nullptr;  ///< the hot ones
  const warp_piece* pieces = nullptr;
  const handed_row* handed = nullptr;  ///< one for each place where a sum is handed over
  int count = 0;                       ///< how many hot columns there are
  int piece_count = 0;
  void* elements = nullptr;  ///< their elements of x, one after another, in whole units of 16 bytes
  unsigned* counts = nullptr;  ///< of the shares of a row that have been handed over
};

/// Tells one launch what to do.
struct hot_columns_job {
  spmv_job product;
  hot_columns hot;
};
using hot_columns_kernel = void(hot_columns_job);

/// The kernels of hot columns.
struct hot_columns_choice {
  hot_columns_kernel* gather = nullptr;    ///< in any grid of blocks of 256 threads
  hot_columns_kernel* multiply = nullptr;  ///< one block a multiprocessor; null for other types
  unsigned threads = 0;                    ///< of a block of `multiply`
  std::size_t bytes = 0;                   ///< its dynamic shared memory, beside the table
};
hot_columns_choice hot_columns_kernels(type values, type x);

}  // namespace tally::backends::cuda
