// An owning sparse matrix.
#pragma once

#include <tally/operands/types.hpp>
#include <tally/sparse/csr_view.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally {

/// A matrix in compressed sparse rows, in host memory. Functions take its `view()`.
template <element Value, csr_index Offset = std::int32_t, csr_index Column = std::int32_t>
struct csr_matrix {
  std::size_t rows = 0;                   ///< height
  std::size_t columns = 0;                ///< width
  std::vector<Offset> row_offsets = {0};  ///< rows + 1
  std::vector<Column> column_indices;     ///< one per value
  std::vector<Value> values;              ///< row after row

  /// A view, valid while the matrix exists and its vectors keep their sizes.
  /// @throws error as `csr_view`.
  csr_view<Value, Offset, Column> view() const {
    return {rows, columns, row_offsets, column_indices, values};
  }
};

/// One entry of a matrix, indices from 0.
template <element Value>
struct matrix_entry {
  std::int64_t row = 0;     ///< row
  std::int64_t column = 0;  ///< column
  Value value = {};         ///< value
};

}  // namespace tally
