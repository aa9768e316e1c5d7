// How a matrix is cut over threads and blocks. None of it can change a bit of the result.
//
// Tiles: row i is at i + row_offsets[i] of a line on which rows and nonzeros both count, so that
// neither many empty rows nor a long one make a tile heavy. A tile is `tile_size` of that line, and
// owns the rows that start in it. A last row of more than `split_row` terms, which would reach far
// beyond the tile, is split: its shares, nodes of the order's tree, belong to the tiles that they
// start in, one share a tile at most.
#pragma once

#include "backends/row_order.hpp"

#include <tally/order.hpp>

#include <cstddef>

namespace tally::backends::cuda {

// Figures: one H200, f64 and int32, device time of one of 40 (of large matrices 8) products in a
// graph; in brackets the faster of cuSPARSE's two algorithms in the same run.

/// Tiles of 512, 1024, 2048: memplus 2.8, 3.0, 3.9 us (4.8), wiki-Vote 3.3, 3.5, 6.2 (4.9),
/// soc-Slashdot0902 9.8, 10.4, 13.3 (10.5), arrow 5.4, 5.3, 6.5 (5.2); R-MAT graphs of 2^18 and
/// 2^21 vertices 42.6, 40.0, 53.8 (37.7) and 321, 287, 329 (271). Blocks of 128 threads are
/// slower by up to 10 %.
inline constexpr int tile_size = 1024;
inline constexpr unsigned tile_threads = 256;

/// A chunk: rows that are split from 256 terms on cost memplus and wiki-Vote 1.3 us.
inline constexpr int split_row = static_cast<int>(order::chunk);

/// Terms that a tile holds at most.
inline constexpr int most_terms = tile_size + split_row;

/// Blocks of a multiprocessor at a time, for which registers must do.
template <class A>
inline constexpr unsigned tile_blocks = sizeof(A) <= 8 ? 6 : 3;

/// Where a tile has a row of more terms, all short ones are summed in 8 threads each.
inline constexpr int uneven_row = 32;

/// Of a block that has no tile.
inline constexpr unsigned row_threads = 256;

/// Threads for each row, 0 for tiles. Of a matrix whose longest row has `longest` terms.
constexpr unsigned threads_a_row(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  if (longest > row_order::short_row) return 0;
  // All rows at once, as long as the longest takes: cryg2500 (5 terms at most) 1.22 us in 2
  // threads, 1.29 in 8 (4.64), ani4 (9) 1.25 in 4, 1.32 in 2 and in 8 (4.56), 1138_bus (18) 1.25 in
  // 8, 1.50 in 4 (4.68), bcsstk16 (81) 2.17 in 8, 2.87 in 4 (4.46). In tiles 1.9, bcsstk16 2.7.
  constexpr std::size_t at_once = 1 << 15;
  if (rows <= at_once) return longest <= 8 ? 2 : longest <= 16 ? 4 : 8;
  // Then throughput. 5-point 2048^2 97.5 us, in 4 threads 151 (134); 7-point 128^3 59.9, 83 (83);
  // 2^21 random rows of 3 in the mean, 15 at most, 56.6, 75 (67); wing 3.06, 3.20 (6.5). A thread a
  // row is level with 2, in tiles they take 118, 82, 60.7, 4.1.
  if (nonzeros <= 8 * rows) return longest <= 32 ? 2 : 0;
  // 27-point 128^3 187 us, in 2 threads 222, in 8 200, in tiles 249 (249). But 2^20 random rows of
  // 16, 40 at most, 138 in tiles, 140 in 8 threads, 154 in 4 (136).
  if (longest > 2 * (nonzeros / rows)) return 0;
  return nonzeros <= 32 * rows ? 4 : 8;
}

}  // namespace tally::backends::cuda
