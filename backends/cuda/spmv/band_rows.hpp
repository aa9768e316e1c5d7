// Kernel for rows of up to 128 terms in a band along the diagonal, too long for one thread each. A
// block has adjacent rows, 8 threads each, and copies the part of x in their reach to shared
// memory. It reads 16-bit differences column - row, no columns.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/plan.hpp"
#include "src/core/order/row_order.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Kernel parameter; uses `product.differences`.
struct band_rows_job {
  spmv_job product;
  std::int32_t reach = 0;  ///< largest distance of a column from the diagonal
};
using band_rows_kernel = void(band_rows_job);

/// Threads and rows per block (tuning/spmv.md: band_rows).
inline constexpr unsigned band_threads = 512;
inline constexpr unsigned band_rows = 256;

struct band_rows_choice {
  band_rows_kernel* kernel = nullptr;  ///< null for other types, or a band too wide
  std::size_t bytes = 0;               ///< dynamic shared memory
};
band_rows_choice band_rows_of(type values, type x, std::int32_t reach);

/// Finds the largest distance from the diagonal and counts adjacent columns (survey::reach,
/// survey::adjacent), and writes differences if there is memory for them. May stop at a column out
/// of the range of 16 bits.
survey_kernel* band_kernel(bool wide_columns, bool wide_offsets);

/// Whether to look for a band; the longest row has `longest` terms (tuning/spmv.md: may_have_band).
inline bool may_have_band(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t at_once = 1 << 15, most_indices = (std::size_t{1} << 31) - 1;
  return longest <= row_order::short_row && a.rows > at_once && a.rows <= most_indices &&
         a.columns <= most_indices && a.nonzeros() >= 16 * a.rows;
}

}  // namespace tally::backends::cuda
