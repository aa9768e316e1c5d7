// The kernel of short rows whose columns are within some thousands of the diagonal: a block goes
// along the diagonal, tile by tile of adjacent rows, each in one thread. The part of x that the
// rows of a tile reach is in a ring of the block's shared memory, to which each further tile adds
// as many elements as it has rows; beside it are the tile's values and the 16-bit differences of
// columns and rows, and those of the next tiles, which come meanwhile. So rows gather nothing from
// memory, and x is read about once.
#pragma once

#include "backends/cuda/spmv/near_rows.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Tells one launch what to do; it uses `product.differences` and `product.tile_terms`.
struct ring_rows_job {
  spmv_job product;
  reach columns;
  std::int32_t ring = 0;  ///< elements of the ring, which take whole units of 16 bytes
};
using ring_rows_kernel = void(ring_rows_job);

struct ring_rows_choice {
  ring_rows_kernel* kernel = nullptr;  ///< null where there is none for these types, or no room
  unsigned tile = 0;                   ///< rows of a tile
  unsigned threads = 0;                ///< of a block
  unsigned blocks = 0;                 ///< of a multiprocessor
  std::size_t terms = 0;               ///< no tile has more
  std::size_t ring = 0;
  std::size_t bytes = 0;  ///< its dynamic shared memory

  unsigned rows() const { return blocks * tile; }  ///< of a multiprocessor, at a time
};
/// Returns the kernel and how it is launched where `row_tile` adjacent rows have so many terms at
/// most and a block so much shared memory.
///
///                                             f64                          f32
///                                 elsewhere  ring  cuSPARSE    elsewhere  ring  cuSPARSE
///     2^21 rows of 1 to 9, 1000 away    68.7  42.8    69.5          48.7  36.5    38.3
///     3000 away                         78.1  44.6    73.5          57.2  37.4    42.2
///     8000 away                         87.7  65.7    82.7          65.8  42.5    55.4
///     2^20 rows of 1 to 16, 3000 away   58.5  33.4    51.9          39.9  25.1    33.3
///     8000 away                         67.9  46.3    64.7                26.5    45.3
///     2^19 rows of 8 to 30, 2000 away   43.0  35.2    51.2          36.7  24.7    33.0
/// (One H200, 2026-11-23. Elsewhere x comes from memory, in the last row from band_rows.hpp.)
ring_rows_choice ring_rows_of(type values, type x, std::size_t terms, const reach& columns,
                              std::size_t room);

}  // namespace tally::backends::cuda
