// Lanes of a transpose's columns: terms are added to them in the order of the matrix's rows, and a
// block of columns is folded once it has all its terms.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/spmv/slices/slices.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::backends::simd {

/// Adjacent slices of columns with equally many lanes. Lane l of a slice's columns is a cache line;
/// behind a group one is left free, so that columns of a grid fall into different sets of a cache
/// (tuning/spmv.md: lane_group).
struct lane_group {
  static constexpr std::size_t max_slices = 8;

  std::uint8_t lanes = 0;     ///< above row_order::lanes a multiple
  std::uint8_t columns = 0;   ///< in at most `max_slices`; the last is perhaps not full
  bool are_adjacent = false;  ///< columns fill slices and follow each other

  template <class W>
  std::size_t slices() const {
    return (columns + rows_of_slice<W> - 1) / rows_of_slice<W>;
  }
};

/// A column of more than `short_row` terms, with a multiple of `order::lanes` lanes.
struct long_column {
  std::uint16_t column = 0;  ///< in its block
  std::size_t lanes = 0;
};

/// Columns folded together. Members but the columns index arrays of `column_lanes`; a block ends
/// where the next one begins.
struct column_block {
  std::size_t first = 0;  ///< column
  std::size_t group = 0;
  std::size_t listed = 0;  ///< in `listed`
  std::size_t long_one = 0;
  std::size_t term = 0;  ///< of those staged
};

/// Rows whose terms are added, then blocks that are folded.
struct lane_step {
  std::size_t rows_end = 0;
  std::size_t folds_end = 0;  ///< in `folds`
};

/// A block and its first lane.
struct block_fold {
  std::size_t block = 0;
  std::size_t lanes = 0;
};

struct column_lanes {
  static constexpr std::size_t max_columns = 1024;  ///< of a block

  column_lanes() = default;
  /// @pre float or double values, three arrays.
  explicit column_lanes(const csr_operand& a);

  /// Terms that prefetches are ahead.
  static constexpr std::size_t ahead = 40;

  /// Lane of each term, or its index among those staged; then zeros, which prefetches read. Empty
  /// if 32 bits are too few.
  std::vector<std::int32_t> to;
  /// Lanes, in their block, of the terms staged, block after block; empty if none are. All blocks
  /// then have the same lanes.
  std::vector<std::uint16_t> staged;
  std::vector<column_block> blocks;
  std::vector<lane_group> groups;
  std::vector<std::uint16_t> listed;  ///< columns of slices, in their block
  std::vector<long_column> long_columns;
  std::vector<lane_step> steps;
  std::vector<block_fold> folds;
  std::size_t lanes = 0;  ///< of blocks that have terms at one time, in whole cache lines
  /// Whether no lane takes two terms: those of longer columns are more than the row order has, and
  /// added to each other in the fold. Else columns of up to 8 terms have half of their lanes, as
  /// each of the other half's terms is what the fold adds first.
  bool are_single = true;
  bool clears = true;  ///< whether folded lanes are cleared, as they take other terms
};

/// Folds a block's lanes into the sums of its columns.
template <class W>
using lanes_fold = void(const column_lanes& all, std::size_t block, W* lanes, W* sums);
template <class W>
lanes_fold<W>* lanes_fold_of(instruction_set set);

}  // namespace tally::backends::simd
