// Kernel for rows of at most 128 terms, in the mean 16 or more, in a band along the diagonal. A
// block has adjacent rows, 8 threads each, and copies the part of x in reach to shared memory. It
// reads 16-bit differences, no columns.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"
#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct band_rows_job {
  spmv_job product;
  std::int32_t reach = 0;  ///< largest distance from the diagonal
};
using band_rows_kernel = void(band_rows_job);

/// Threads and rows per block (tuning/spmv.md: band_rows_per_block).
inline constexpr unsigned band_threads_per_block = 512;
inline constexpr unsigned band_rows_per_block = 256;

struct band_rows_choice {
  band_rows_kernel* kernel = nullptr;  ///< null for other types and wide bands
  std::size_t bytes = 0;               ///< dynamic shared memory
};
band_rows_choice band_rows_of(type values, type x, std::int32_t reach);

/// Finds the largest distance from the diagonal, counts adjacent columns, and writes differences
/// into memory, if given. May stop at a distance beyond 16 bits.
analysis_kernel* band_kernel(bool wide_columns, bool wide_offsets);

/// Whether to look for a band (tuning/spmv.md).
inline bool may_have_band(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t at_once = 1 << 15, max_indices = (std::size_t{1} << 31) - 1;
  return longest <= row_order::short_row && a.rows > at_once && a.rows <= max_indices &&
         a.columns <= max_indices && a.nonzeros() >= 16 * a.rows;
}

}  // namespace tally::backends::cuda
