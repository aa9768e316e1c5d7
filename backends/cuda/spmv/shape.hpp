// Partition of a matrix over threads, warps and blocks. None of it changes a bit of the result.
//
// Without a plan, rows of a large matrix have a few threads each, and long rows are queued
// (unplanned.cuh). A small matrix is cut into tiles of its merge path, on which row i begins at i +
// row_offsets[i]: neither many empty rows nor a long one make a tile heavy. A tile owns the rows
// that begin in it. A last row of more than `split_row` terms is split: its row segments, nodes of
// the order's tree, belong to the tiles in which they begin, at most one per tile.
//
// With a plan, rows have a few threads each where none is long, or one each in tiles of adjacent
// rows where there are many. Otherwise a block, or with hub columns a warp, has a piece: first row
// segments of long rows ("shares"), of one or more chunks, then row blocks of adjacent short rows
// ("runs"), which end at multiples of `row_block_path` on the merge path, at a long row, and after
// `analysis_span` rows.
#pragma once

#include "backends/common/order/row_order.hpp"

#include <tally/order.hpp>
#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tally::backends::cuda {

/// Merge-path length of a tile (tuning/spmv.md).
inline constexpr int merge_tile_path = 1024;
inline constexpr unsigned merge_tile_threads = 256;

/// Rows longer than this are split over tiles (tuning/spmv.md).
inline constexpr int split_row = static_cast<int>(order::chunk);

/// Terms of a tile, at most.
inline constexpr int max_terms = merge_tile_path + split_row;

/// Minimum blocks per SM, which bounds registers.
template <class A>
inline constexpr unsigned merge_tile_blocks_per_sm = sizeof(A) <= 8 ? 6 : 3;

/// Longest row with which a tile doesn't yet sum all short rows in 8 threads each (tuning/spmv.md).
inline constexpr int uneven_row = 32;

/// Merge-path length of a row block. Even with 127 further terms of its last row, it loads in one
/// round of 4 terms per thread (tuning/spmv.md).
inline constexpr int row_block_path = 384;
static_assert(row_block_path + row_order::short_row <= order::chunk);

/// Rows per step of a block of the analysis, at most.
inline constexpr int analysis_span = 4096;

/// Terms staged at a time: a row block's, or a chunk.
inline constexpr int piece_terms = static_cast<int>(order::chunk);

/// Threads per block of the pieces kernel (tuning/spmv.md).
inline constexpr unsigned piece_threads = 128;
/// Blocks per SM of the pieces kernel (tuning/spmv.md).
template <class A>
inline constexpr unsigned pieces_blocks_per_sm = is_complex_v<A> ? 6 : 12;

/// Carry-outs per product, at most; the widest takes 8 words of scratch memory.
inline constexpr std::size_t max_handovers = 1024;

/// Threads per block of kernels without tiles or pieces.
inline constexpr unsigned row_threads = 256;

/// Returns the threads per row, or 0 for pieces. A few rows run all at once, so the longest
/// decides; many are bound by throughput (tuning/spmv.md).
constexpr unsigned threads_per_row(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  if (longest > row_order::short_row) return 0;
  constexpr std::size_t at_once = 1 << 15;
  if (rows <= at_once) return longest <= 8 ? 2 : longest <= 16 ? 4 : longest <= 32 ? 8 : 0;
  if (nonzeros <= 8 * rows) return longest <= 32 ? 2 : 0;
  // Lengths uniform between 0 and twice the mean go to pieces.
  if (10 * rows * longest > 19 * nonzeros) return 0;
  return nonzeros <= 32 * rows ? 4 : 8;
}

/// Whether rows have a few threads each without a plan. Long rows take a second launch, which small
/// matrices do not repay (tuning/spmv.md).
constexpr bool has_rows_unplanned(std::size_t nonzeros) { return nonzeros >= 3 << 19; }

/// Blocks per SM of the second launch.
inline constexpr unsigned queued_blocks_per_sm = 4;

/// Returns the threads per row without a plan (tuning/spmv.md).
constexpr unsigned threads_per_row_unplanned(std::size_t rows, std::size_t nonzeros) {
  return nonzeros <= 8 * rows ? 2 : nonzeros <= 32 * rows ? 4 : 8;
}

/// A row block with hub columns has all loads in flight in one warp. It ends with the row that
/// reaches `hub_block_path` on the merge path, or earlier at another limit (tuning/spmv.md).
inline constexpr int hub_block_path = 224;
inline constexpr int hub_block_terms = 256;
inline constexpr int hub_block_rows = 128;
/// Rows that a block cuts together.
inline constexpr int hub_span = 2048;

/// Returns an upper bound: a row block that ends neither at a long row nor at a multiple of
/// `hub_span` has at least `least` rows and terms together.
inline std::size_t max_hot_runs(const csr_operand& a, std::size_t long_rows) {
  constexpr auto least =
      std::min<std::size_t>(hub_block_rows, hub_block_terms - row_order::short_row);
  return (a.rows + a.nonzeros()) / least + long_rows + a.rows / hub_span + 1;
}

/// Threads per block of the hub-column kernel.
template <class T>
inline constexpr unsigned hub_threads = sizeof(T) == 8 ? 768 : 1024;

/// Shared memory per block, at most; the rest of an SM's caches the other elements of x
/// (tuning/spmv.md).
constexpr std::size_t hub_shared_bytes(type element) {
  return std::size_t{element == type::float64 ? 163u : 195u} << 10;
}

/// Whether to look for hub columns. That may take 4 bytes per column, so columns must not far
/// outnumber terms.
inline bool may_have_hub_columns(const csr_operand& a) {
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;
  return a.nonzeros() >= 1 << 21 && a.nonzeros() <= most &&
         a.columns <= std::min(most, 4 * a.nonzeros()) && a.rows <= most;
}

/// Returns log2 of the sampling interval, in groups of terms (tuning/spmv.md).
constexpr unsigned hub_sample_shift(std::size_t nonzeros) {
  return static_cast<unsigned>(std::bit_width(nonzeros >> 19));
}

/// Returns the counters per column: with few columns, atomic additions contend.
constexpr std::size_t hub_counters_per_column(std::size_t columns) {
  return columns < std::size_t{1} << 20 ? 4 : 1;
}

/// Whether columns with `covered` of the terms are hub columns (tuning/spmv.md).
TALLY_HOST_DEVICE constexpr bool are_hub_columns(std::size_t nonzeros, std::size_t covered) {
  return 10 * covered >= 2 * nonzeros;
}

/// Whether nearly all rows have the length of the longest.
constexpr bool are_even(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  return 10 * nonzeros >= 9 * rows * longest;
}

/// Whether a plan that knows columns, without row tiles, cuts rows into pieces though they could
/// have 2 threads each: doubles in several rounds (tuning/spmv.md).
inline bool has_pieces_of_short_rows(const csr_operand& a, std::size_t longest) {
  return a.values.element == type::float64 && a.rows >= 1 << 18 && a.nonzeros() <= 8 * a.rows &&
         longest > row_order::lanes && !are_even(a.rows, a.nonzeros(), longest);
}

/// Rows per row tile, one per thread; terms per row, at most.
inline constexpr unsigned rows_per_row_tile = 128;
inline constexpr std::size_t max_row_tile_terms = 64;

/// Whether row tiles are possible, before row lengths are known.
inline bool may_have_row_tiles(const csr_operand& a) {
  constexpr std::size_t at_once = 1 << 15, max_indices = (std::size_t{1} << 31) - 1;
  return a.rows > at_once && a.rows <= max_indices && a.columns <= max_indices &&
         a.nonzeros() <= max_row_tile_terms * a.rows;
}

/// Whether short rows go to row tiles, with columns in a smaller form. If nearly all had one
/// length, a multiple of 16, threads would read values from the same shared-memory banks
/// (tuning/spmv.md).
inline bool has_row_tiles(const csr_operand& a, std::size_t longest) {
  return may_have_row_tiles(a) && longest <= max_row_tile_terms &&
         !(are_even(a.rows, a.nonzeros(), longest) && longest % 16 == 0);
}

/// Whether short rows go to row tiles with plain column indices (tuning/spmv.md).
inline bool has_row_tiles_of_columns(const csr_operand& a, std::size_t longest) {
  return a.rows >= 1 << 18 && are_even(a.rows, a.nonzeros(), longest) && longest % 8 != 0 &&
         longest <= 35 && a.column_indices.element == type::int32;
}

/// Returns the length that nearly all rows seem to have and none exceeds, as on grids; 0 where
/// tiles gain nothing. If it is wrong, rows have a few threads, fewer at a time. A multiple of 4,
/// of doubles, makes threads read from the same banks (tuning/spmv.md).
inline std::size_t even_length_unplanned(const csr_operand& a) {
  const std::size_t length = (a.nonzeros() + a.rows - 1) / a.rows;
  const bool is_even = 50 * (length * a.rows - a.nonzeros()) <= a.nonzeros();
  const bool gains = a.values.element != type::float64 || (length > 6 && length % 4 != 0);
  return is_even && gains && has_row_tiles_of_columns(a, length) ? length : 0;
}

/// Rows up to this length have 8 elements of x in flight per thread of such a tile, longer ones 16
/// (tuning/spmv.md).
inline constexpr std::size_t max_8_in_flight = 11;

/// Whether 16 elements of x are in flight per thread of a plan's row tile, else 8 (tuning/spmv.md).
constexpr bool has_16_in_flight(std::size_t rows, std::size_t longest) {
  return longest > 8 && rows >= 1 << 18;
}

}  // namespace tally::backends::cuda
