// Kernel for short rows near the diagonal. A block has a tile of adjacent rows, one thread
// each, and copies the part of x in reach to shared memory, with values and 16-bit differences;
// nothing is gathered from memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Range of column - row.
struct reach {
  std::int32_t least = 0;
  std::int32_t most = -1;

  bool is_known() const { return least <= most; }
};

struct near_rows_job {
  spmv_job product;
  reach columns;
};
using near_rows_kernel = void(near_rows_job);

/// Kernel with blocks of `rows_per_row_tile` threads.
struct near_rows_choice {
  near_rows_kernel* kernel = nullptr;  ///< null for other types
  std::size_t bytes = 0;               ///< dynamic shared memory
};
near_rows_choice near_rows_of(type values, type x, std::size_t tile_terms, const reach& columns);

/// Returns the elements of x in a tile's reach.
std::size_t x_window_elements(const reach& columns);

/// Whether the kernel pays with `reached` elements of x in reach (tuning/spmv.md).
constexpr bool has_near_rows(std::size_t reached) { return reached <= 2048; }

}  // namespace tally::backends::cuda
