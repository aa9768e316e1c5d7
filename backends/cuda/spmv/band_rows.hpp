// The kernel of rows of up to 128 terms in a band along the diagonal, too many for a thread each: a
// block has some adjacent rows, each in 8 threads, and brings the part of x that they can reach
// into its shared memory. Differences of columns and rows, of 16 bits, take the place of columns.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/plan.hpp"
#include "src/core/order/row_order.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Tells one launch what to do; it uses `product.differences`.
struct band_rows_job {
  spmv_job product;
  std::int32_t reach = 0;  ///< no column is further from the diagonal
};
using band_rows_kernel = void(band_rows_job);

/// A block has so many threads, and so many rows one after another.
///
/// Rows of 40 to 128 terms, at most 2000 from the diagonal:
///                                    f64    f32
///     128 rows                      35.9   26.6
///     256 rows                      35.8   25.9
///     384 rows                      41.0   31.0
///     512 rows, 1024 threads        35.0   25.0
///     x in memory                   61.4   45.7
///     cuSPARSE                      56.2   35.1
inline constexpr unsigned band_threads = 512;
inline constexpr unsigned band_rows = 256;

struct band_rows_choice {
  band_rows_kernel* kernel = nullptr;  ///< null where there is none for these types
  std::size_t bytes = 0;               ///< its dynamic shared memory
};
band_rows_choice band_rows_of(type values, type x, std::int32_t reach);

/// Finds how far columns are from the diagonal and how many are next to each other, in
/// survey::reach and survey::adjacent, and writes differences where there is memory for them. It
/// may end where columns are further than 16 bits tell.
survey_kernel* band_kernel(bool wide_columns, bool wide_offsets);

/// Says whether to look if rows lie in a band, where the longest has `longest` terms.
///
///                                              f64                        f32
///                                     else   band  cuSPARSE      else   band  cuSPARSE
///     2^17 rows of 64, 2000 away      38.7   26.4    44.7        26.5   18.9    28.3
///     of 40 to 128, 2000 away         61.7   37.8    56.1        45.7   27.6    35.1
///     12000 away                      80.6   72.4    81.1        50.1   35.8    50.1
///     2^18 rows of 20 to 60, 500      43.4   37.1    48.5        30.3   27.7    32.9
///     2000 away                       67.8   38.3    53.6        44.2   29.9    34.2
///     2^19 rows of 8 to 30, 2000      59.2   43.0    51.2        37.1   36.5    33.0
inline bool may_have_band(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t at_once = 1 << 15, most_indices = (std::size_t{1} << 31) - 1;
  return longest <= row_order::short_row && a.rows > at_once && a.rows <= most_indices &&
         a.columns <= most_indices && a.nonzeros() >= 16 * a.rows;
}

}  // namespace tally::backends::cuda
