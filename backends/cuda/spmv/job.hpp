// An spmv_job tells one launch of spmv what to do. It is the kernels' only parameter.
#pragma once

#include "src/core/sparse/csr.hpp"
#include "src/core/sparse/row_patterns.hpp"
#include "src/core/types/typed_vector.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A plan gives each block one piece of the matrix: a run of short rows, or a share of a longer
/// row. See shape.hpp.
struct alignas(16) spmv_piece {
  std::int64_t row = 0;      ///< the first row
  std::int64_t nonzero = 0;  ///< the first term's
  std::int32_t rows = 0;     ///< a share has minus the number of its row's shares here
  std::int32_t terms = 0;
  std::int32_t handover = 0;  ///< the sum of the row's first share is handed over there
  std::int32_t before = 0;    ///< how many shares of the row come before this one

  TALLY_HOST_DEVICE bool is_run() const { return rows > 0; }
  TALLY_HOST_DEVICE std::int32_t shares() const { return -rows; }
};

/// Without a plan the first launch queues long rows here for the second. A place holds a row, and
/// above it the number of its share.
struct share_queue {
  /// These are zeros before and after a product: how many rows and how many shares are queued, and
  /// how many blocks of the second launch have ended.
  std::uint64_t* words = nullptr;
  static constexpr unsigned row_word = 0, share_word = 1, ended_word = 2, word_count = 3;
  std::uint64_t* rows = nullptr;    ///< long rows of one chunk at most
  std::uint64_t* shares = nullptr;  ///< shares of longer rows, a chunk each
  void* sums = nullptr;             ///< one for each of those
  unsigned* counts = nullptr;       ///< at a row's first place, how many of its sums are there
  std::uint64_t row_room = 0;
  std::uint64_t share_room = 0;
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

  /// Returns a row offset, brought within the values. Nobody has checked the offsets in the
  /// caller's memory. Where they are wrong, what comes into y does not matter; but nothing is read
  /// outside the matrix or written outside y, every block ends, and later launches are right.
  TALLY_HOST_DEVICE std::int64_t offset(std::int64_t row) const {
    return within(offsets[static_cast<std::size_t>(row)]);
  }
  /// Returns where a row ends, brought within the values.
  TALLY_HOST_DEVICE std::int64_t end(std::int64_t row) const {
    return within(ends[static_cast<std::size_t>(row)]);
  }
  TALLY_HOST_DEVICE std::int64_t within(std::int64_t at) const {  // a negative one is large, too
    return static_cast<std::uint64_t>(at) < static_cast<std::uint64_t>(nonzeros) ? at : nonzeros;
  }

  // The members are in the order in which a kernel needs them: parameters come through a cache that
  // is cold at the kernel's start.
  const spmv_piece* pieces = nullptr;  ///< a plan's, or null
  index_vector offsets;
  index_vector columns;
  typed_vector values;
  typed_vector x;
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t column_count;
  typed_vector y;
  unsigned share_shift = 0;  ///< log2 of the tiles from one share of a split row to the next
  bool reads_addend = false;
  type computation = type::float64;  ///< the type C of <tally/spmv.hpp>
  std::uint32_t tag = 1;             ///< the tag of sums that blocks hand each other; not 0
  std::uint64_t* words = nullptr;    ///< scratch memory (scratch.hpp)
  std::uint64_t* ended = nullptr;    ///< the launch counts itself here when it ends, or null
  /// These are alpha and beta, in the type C.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
  typed_vector addend;  ///< the vector that beta multiplies: y, or one apart from it
  conjugate conjugated = conjugate::none;
  index_vector ends;    ///< where rows end; the kernels of pieces, tiles and rows do not look
  index_vector places;  ///< where the values of terms are; its data are null where in their order
  // A plan has found these for tiles of rows.
  std::int32_t tile_terms = 0;  ///< no tile has more terms
  row_patterns patterns;
  const std::int16_t* differences = nullptr;  ///< column - row of each term
  share_queue queue;
};

}  // namespace tally::backends::cuda
