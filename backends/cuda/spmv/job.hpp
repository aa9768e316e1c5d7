// Parameter of spmv kernels.
#pragma once

#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/row_patterns.hpp"
#include "backends/common/types/typed_vector.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Work of one block of a plan with long rows: a row segment of one or more chunks (share), or a
/// row block of adjacent short rows (run), which ends at a multiple of `row_block_path` on the
/// merge path, at a long row, or after `analysis_span` rows. Segments come first.
struct alignas(16) spmv_piece {
  std::int64_t row = 0;      ///< first row
  std::int64_t nonzero = 0;  ///< first term
  std::int32_t rows = 0;     ///< of a segment: minus the row's number of segments
  std::int32_t terms = 0;
  std::int32_t carry_out = 0;  ///< index of the first segment's carry-out
  std::int32_t before = 0;     ///< earlier segments of the row

  TALLY_HOST_DEVICE bool is_row_block() const { return rows > 0; }
  TALLY_HOST_DEVICE std::int32_t shares() const { return -rows; }
};

/// Queue of long rows for the last launch without a plan. An entry is a row above the number of a
/// row segment.
struct segment_queue {
  /// Rows queued, segments queued, ended blocks of the last launch; zeros between products.
  std::uint64_t* words = nullptr;
  static constexpr unsigned row_word = 0, segment_word = 1, ended_word = 2, word_count = 3;
  std::uint64_t* rows = nullptr;    ///< long rows of a few chunks, one warp's each
  std::uint64_t* shares = nullptr;  ///< segments of longer rows, one chunk each
  void* sums = nullptr;             ///< by segment
  unsigned* counts = nullptr;       ///< sums present, at a row's first segment
  std::uint64_t row_capacity = 0;
  std::uint64_t segment_capacity = 0;
};

struct spmv_job {
  explicit spmv_job(const csr_product& product)
      : offsets(product.a.row_offsets),
        columns(product.a.column_indices),
        values(product.a.values),
        rows(static_cast<std::int64_t>(product.a.rows)),
        nonzeros(static_cast<std::int64_t>(product.a.nonzeros())),
        column_count(static_cast<std::int64_t>(product.a.columns)),
        conjugated(product.conjugated),
        ends(row_bounds(product.a).ends),
        places(product.places) {}

  /// Returns a row offset, clamped to the values: the caller's offsets are unchecked. If they are
  /// wrong, y is unspecified, but nothing is read outside the matrix or written outside y, every
  /// block ends, and later launches are right.
  TALLY_HOST_DEVICE std::int64_t offset(std::int64_t row) const {
    return within(offsets[static_cast<std::size_t>(row)]);
  }
  TALLY_HOST_DEVICE std::int64_t end(std::int64_t row) const {
    return within(ends[static_cast<std::size_t>(row)]);
  }
  TALLY_HOST_DEVICE std::int64_t within(std::int64_t at) const {  // negative ones are large
    return static_cast<std::uint64_t>(at) < static_cast<std::uint64_t>(nonzeros) ? at : nonzeros;
  }

  // In the order of use: the parameters' cache is cold at a kernel's start.
  const spmv_piece* pieces = nullptr;  ///< of a plan, or null
  index_vector offsets;
  index_vector columns;
  typed_vector values;
  typed_vector x;
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t column_count;
  typed_vector y;
  unsigned segment_shift = 0;  ///< log2 of the tiles per segment
  bool reads_addend = false;
  type computation = type::float64;  ///< C of <tally/sparse/spmv.hpp>
  std::uint32_t tag = 1;             ///< of carry-outs, not 0
  std::uint64_t* words = nullptr;    ///< scratch memory (scratch.hpp)
  std::uint64_t* ended = nullptr;    ///< counter of ended launches, or null
  /// alpha and beta, of type C.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
  typed_vector addend;  ///< operand of beta
  conjugate conjugated = conjugate::none;
  index_vector ends;    ///< row ends; unused by kernels of pieces, tiles and rows
  index_vector places;  ///< permutation of the values, or null data
  // For row tiles with a plan.
  std::int32_t tile_terms = 0;  ///< of the largest tile
  std::int32_t row_terms = 0;   ///< of every row; 0: they differ
  row_patterns patterns;
  const std::int16_t* differences = nullptr;  ///< column - row of each term
  segment_queue queue;
};

}  // namespace tally::backends::cuda
