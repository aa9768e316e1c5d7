// How a matrix is cut over blocks. None of it can change a bit of the result.
//
// Row i is at i + row_offsets[i] of a line on which rows and nonzeros both count, so that neither
// many empty rows nor a long one make a tile heavy. A tile is `tile_size` of that line, and owns
// the rows that start in it. A last row of more than `split_row` terms, which would reach far
// beyond the tile, is split: its shares, nodes of the order's tree, belong to the tiles that they
// start in, one share a tile at most.
#pragma once

#include <tally/order.hpp>

#include <cstdint>

namespace tally::backends::cuda {

inline constexpr int tile_size = 1024;
inline constexpr int split_row = 1024;
inline constexpr unsigned tile_threads = 256;

/// Where a tile has a row of more terms, all short ones are summed in 8 threads each.
inline constexpr int uneven_row = 32;

/// Terms that a tile holds at most.
inline constexpr int most_terms = tile_size + split_row;

}  // namespace tally::backends::cuda
