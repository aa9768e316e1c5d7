// Partition of a matrix over threads, warps and blocks, and conditions of the methods (spmv.cpp).
// None of it changes a bit of the result.
#pragma once

#include "backends/common/order/row_order.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/types.hpp>
#include <tally/sparse/spmv.hpp>

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

/// Threads per block of kernels without tiles or pieces.
inline constexpr unsigned row_threads = 256;

/// Rows that run all at once, at most.
inline constexpr std::size_t rows_at_once = 1 << 15;

/// Indices of 32 bits, at most.
inline constexpr std::size_t max_indices = (std::size_t{1} << 31) - 1;

/// Whether no row of many is much longer than the mean, so that threads may have equally many:
/// lengths uniform between 0 and twice the mean are too uneven.
constexpr bool are_balanced(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  return nonzeros <= 8 * rows ? longest <= 32 : 10 * rows * longest <= 19 * nonzeros;
}

/// Returns the threads per row, or 0 for pieces. A few rows run all at once, so the longest
/// decides; many are bound by throughput (tuning/spmv.md).
constexpr unsigned threads_per_row(std::size_t rows, std::size_t nonzeros, std::size_t longest) {
  if (longest > row_order::short_row) return 0;
  if (rows <= rows_at_once) return longest <= 8 ? 2 : longest <= 16 ? 4 : longest <= 32 ? 8 : 0;
  if (!are_balanced(rows, nonzeros, longest)) return 0;
  return nonzeros <= 8 * rows ? 2 : nonzeros <= 32 * rows ? 4 : 8;
}

/// Whether rows have a few threads each without a plan. Long rows take a second launch, which small
/// matrices do not repay (tuning/spmv.md).
constexpr bool has_rows_unplanned(std::size_t nonzeros) { return nonzeros >= 3 << 19; }

/// Returns the threads per row without a plan (tuning/spmv.md).
constexpr unsigned threads_per_row_unplanned(std::size_t rows, std::size_t nonzeros) {
  return nonzeros <= 8 * rows ? 2 : nonzeros <= 32 * rows ? 4 : 8;
}

/// Whether to look for hub columns. That may take 4 bytes per column, so columns must not far
/// outnumber terms. Rows of many chunks gain nothing (tuning/spmv.md).
inline bool may_have_hub_columns(const csr_operand& a) {
  return a.nonzeros() >= 1 << 21 && a.nonzeros() <= max_indices &&
         a.nonzeros() <= 2 * order::chunk * a.rows &&
         a.columns <= std::min(max_indices, 4 * a.nonzeros()) && a.rows <= max_indices;
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

/// Whether rows are many, and rows and columns have 32-bit indices.
inline bool has_many_rows(const csr_operand& a) {
  return a.rows > rows_at_once && a.rows <= max_indices && a.columns <= max_indices;
}

/// Whether row tiles are possible, before row lengths are known.
inline bool may_have_row_tiles(const csr_operand& a) {
  return has_many_rows(a) && a.nonzeros() <= max_row_tile_terms * a.rows;
}

/// Whether short rows go to row tiles, with columns in a smaller form. If nearly all had one
/// length, a multiple of 16, threads would read values from the same shared-memory banks
/// (tuning/spmv.md).
inline bool has_row_tiles(const csr_operand& a, std::size_t longest) {
  return may_have_row_tiles(a) && longest <= max_row_tile_terms &&
         are_balanced(a.rows, a.nonzeros(), longest) &&
         !(are_even(a.rows, a.nonzeros(), longest) && longest % 16 == 0);
}

/// Whether short rows go to row tiles with plain column indices (tuning/spmv.md).
inline bool has_row_tiles_of_columns(const csr_operand& a, std::size_t longest) {
  return a.rows >= 1 << 18 && are_even(a.rows, a.nonzeros(), longest) && longest % 8 != 0 &&
         longest <= 35 && a.column_indices.element == type::int32;
}

/// Whether offsets, columns and places on the merge path have 32 bits.
inline bool has_narrow_indices(const csr_operand& a) {
  return a.row_offsets.element == type::int32 && a.column_indices.element == type::int32 &&
         a.rows + a.nonzeros() <= max_indices;
}

/// Whether short rows are in row blocks that threads sum in turn (tuning/spmv.md).
inline bool may_have_row_blocks(const csr_operand& a, std::size_t longest) {
  const bool is_special = a.values.element == type::float64 || a.values.element == type::float32;
  return is_special && has_narrow_indices(a) && longest <= row_order::short_row &&
         a.nonzeros() >= 8 * a.rows && a.nonzeros() >= 1 << 23;
}

/// Whether rows that are not queued are in row blocks without a plan (tuning/spmv.md).
inline bool has_row_blocks_unplanned(const csr_operand& a) {
  return has_narrow_indices(a) && a.nonzeros() >= 24 * a.rows &&
         a.nonzeros() <= row_order::short_row * a.rows && a.nonzeros() >= 1 << 22;
}

/// Whether the mean is that of rows nearly all of which have one length, that none exceeds.
inline bool seem_even(const csr_operand& a) {
  const std::size_t length = (a.nonzeros() + a.rows - 1) / a.rows;
  return 50 * (length * a.rows - a.nonzeros()) <= a.nonzeros();
}

/// Whether rows of few terms in the mean are in row blocks of uneven rows without a plan
/// (tuning/spmv.md).
inline bool has_uneven_rows_unplanned(const csr_operand& a) {
  const std::size_t n = a.nonzeros();
  const std::size_t max_nonzeros = a.values.element == type::float64 ? 3 << 23 : 1 << 22;
  return has_narrow_indices(a) && !seem_even(a) && n >= 1 << 19 && n <= max_nonzeros &&
         n >= 8 * a.rows && n < 24 * a.rows;
}

/// Whether long rows of a matrix have x in shared memory: a copy an SM is little beside the terms
/// that it has (tuning/spmv.md).
inline bool has_few_columns(const csr_operand& a) {
  return a.column_indices.element == type::int32 &&
         a.columns * size_of(a.values.element) <= 200 << 10 && a.nonzeros() >= 512 * a.columns &&
         a.nonzeros() >= row_order::short_row * a.rows;
}

/// Whether rows are few and of many chunks in the mean (tuning/spmv.md).
inline bool has_long_rows(const csr_operand& a) {
  return a.column_indices.element == type::int32 && a.nonzeros() >= 1 << 20 &&
         a.nonzeros() <= max_indices && a.nonzeros() >= 8 * order::chunk * a.rows;
}

/// Chunks of a row that a block sums by itself, at most (tuning/spmv.md: spmv_whole_rows).
inline constexpr int chunks_per_block = 4;

/// Whether each row has a block, if all are long.
inline bool may_have_whole_rows(const csr_operand& a, std::size_t longest) {
  return a.column_indices.element == type::int32 && a.nonzeros() >= 1 << 20 &&
         a.nonzeros() <= max_indices && longest <= chunks_per_block * order::chunk;
}

/// Whether each row has a block without a plan: rows are long, but not of many chunks, in the mean
/// (tuning/spmv.md: has_whole_rows_unplanned).
inline bool has_whole_rows_unplanned(const csr_operand& a) {
  return a.column_indices.element == type::int32 && a.nonzeros() >= 1 << 20 &&
         a.nonzeros() <= max_indices && a.nonzeros() >= 2 * row_order::short_row * a.rows &&
         a.nonzeros() <= 2 * order::chunk * a.rows;
}

/// Rows of a matrix whose x goes through a ring, at least (tuning/spmv.md: min_ring_rows).
inline constexpr std::size_t min_ring_rows = 1 << 18;

/// Whether to look for a band: rows of at most 128 terms, in the mean 16 or more (tuning/spmv.md).
inline bool may_have_band(const csr_operand& a, std::size_t longest) {
  return has_many_rows(a) && longest <= row_order::short_row && a.nonzeros() >= 16 * a.rows;
}

/// Whether a band pays whose blocks copy `brought` bytes of x: at most 4/5 of the matrix's values
/// and columns, and columns are not mostly adjacent, which shares loads of x (tuning/spmv.md:
/// has_band).
inline bool has_band(const csr_operand& a, std::size_t brought, std::uint64_t adjacent) {
  const std::size_t read = a.nonzeros() * (size_of(a.values.element) + size_of(type::int32));
  return 5 * brought <= 4 * read && 2 * adjacent <= a.nonzeros();
}

/// Returns the length that nearly all rows seem to have and none exceeds, as on grids; 0 where
/// tiles gain nothing. If it is wrong, rows have a few threads each, or, from 16 terms on, their
/// terms lie side by side: at most those of a grid with 27 points. A multiple of 4, of doubles,
/// makes threads read from the same banks (tuning/spmv.md).
inline std::size_t even_length_unplanned(const csr_operand& a) {
  constexpr std::size_t longest_stencil = 27;
  const std::size_t length = (a.nonzeros() + a.rows - 1) / a.rows;
  if (length > longest_stencil) return 0;
  const bool gains = a.values.element != type::float64 || (length > 6 && length % 4 != 0);
  return seem_even(a) && gains && has_row_tiles_of_columns(a, length) ? length : 0;
}

}  // namespace tally::backends::cuda
