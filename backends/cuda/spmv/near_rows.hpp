// The kernel of short rows whose columns are near the diagonal: a block has a tile of adjacent
// rows, each in one thread, and brings the part of x that they can reach into its shared memory,
// beside their values and the 16-bit differences of columns and rows. So rows of uneven lengths
// gather nothing from memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Says how far columns are from the diagonal.
struct reach {
  std::int32_t least = 0;  ///< no difference column - row is smaller
  std::int32_t most = -1;  ///< none is larger

  bool is_known() const { return least <= most; }
};

/// Tells one launch what to do; it uses `product.differences` and `product.tile_terms`.
struct near_rows_job {
  spmv_job product;
  reach columns;
};
using near_rows_kernel = void(near_rows_job);

/// The kernel has blocks of `row_tile` threads.
struct near_rows_choice {
  near_rows_kernel* kernel = nullptr;  ///< null where there is none for these types
  std::size_t bytes = 0;               ///< its dynamic shared memory
};
near_rows_choice near_rows_of(type values, type x, std::size_t tile_terms, const reach& columns);

/// Returns how many elements of x a tile can reach.
std::size_t reached_by_tile(const reach& columns);

/// Says whether that is worth while where a tile reaches so many elements of x.
///
///                                 f64                          f32
///                     elsewhere  near  cuSPARSE   elsewhere  near  cuSPARSE
///     2^21 rows of 1 to 9   60    52      67          42      36.5    38.5
///     2^20 rows of 1 to 16  41    36      45          27      23.5    30.5
///     2^21 rows of 2 to 5   42    40      53          30      28.5    31.5
/// (They reach 528 and 328. Elsewhere x comes from memory.)
constexpr bool has_near_rows(std::size_t reached) { return reached <= 2048; }

}  // namespace tally::backends::cuda
