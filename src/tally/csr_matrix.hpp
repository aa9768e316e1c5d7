// A sparse matrix that owns its memory.
#pragma once

#include <tally/spmv.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally {

/// A matrix in compressed sparse rows, in host memory. Functions take its `view()`.
template <element Value, csr_index Offset = std::int32_t, csr_index Column = std::int32_t>
struct csr_matrix {
  std::size_t rows = 0;                   ///< its height
  std::size_t columns = 0;                ///< its width
  std::vector<Offset> row_offsets = {0};  ///< rows + 1 of them
  std::vector<Column> column_indices;     ///< as many as values
  std::vector<Value> values;              ///< row after row

  /// What refers to it, for as long as it lives and its vectors keep their sizes.
  /// @throws error as `csr_view`.
  csr_view<Value, Offset, Column> view() const {
    return {rows, columns, row_offsets, column_indices, values};
  }
};

/// One entry of a matrix; its row and its column are counted from 0.
template <element Value>
struct matrix_entry {
  std::int64_t row = 0;     ///< its row
  std::int64_t column = 0;  ///< its column
  Value value = {};         ///< what stands there
};

}  // namespace tally
