// Kernel for short rows whose columns are within some thousands of the diagonal. A block moves
// along the diagonal in tiles of adjacent rows, one thread each. A ring buffer in shared memory has
// the part of x in reach; each tile adds as many elements as it has rows. Beside it are values and
// 16-bit differences of this and the next tiles. Nothing is gathered from memory, and x is read
// about once.
#pragma once

#include "backends/cuda/spmv/row_tiles/near_rows.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct ring_rows_job {
  spmv_job product;
  reach columns;
  std::int32_t ring = 0;  ///< elements, in whole units of 16 bytes
};
using ring_rows_kernel = void(ring_rows_job);

struct ring_rows_choice {
  ring_rows_kernel* kernel = nullptr;  ///< null for other types, or without room
  unsigned tile = 0;                   ///< rows per tile
  unsigned threads = 0;                ///< per block
  unsigned blocks = 0;                 ///< per SM
  std::size_t terms = 0;               ///< of the largest tile
  std::size_t ring = 0;
  std::size_t bytes = 0;  ///< dynamic shared memory

  unsigned rows() const { return blocks * tile; }  ///< per SM, at a time
};
/// Returns the kernel and its launch, for at most `terms` terms in `rows_per_row_tile` adjacent
/// rows and `room` bytes of shared memory (tuning/spmv.md: ring_rows).
ring_rows_choice ring_rows_of(type values, type x, std::size_t terms, const reach& columns,
                              std::size_t room);

}  // namespace tally::backends::cuda
