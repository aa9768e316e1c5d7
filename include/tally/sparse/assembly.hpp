// Assembly of a sparse matrix from entries in any order, on the host.
//
// Promise: the matrix depends on the entries and their order alone. Rows are sorted by column;
// entries of one row and column become one value, their sum: in the order given, ((v_0 + v_1) +
// v_2)
// ... in the type that `sum` has for them, or with `tally::exact` the exact sum rounded once to
// that type; then rounded to the values' type. A value without another one stays as it is, bit by
// bit; a NaN of a sum is the positive quiet one with an empty payload.
#pragma once

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/sparse/csr_matrix.hpp>
#include <tally/sparse/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tally {

/// Arguments with types erased; all in host memory. Outputs are contiguous.
struct coo_arguments {
  std::size_t rows = 0;           ///< of the matrix
  std::size_t columns = 0;        ///< of the matrix
  operand row_indices;            ///< int32 or int64, one per entry, in [0, rows)
  operand column_indices;         ///< int32 or int64, one per entry, in [0, columns)
  operand values;                 ///< floating-point or complex
  grade sums = {};                ///< grade of the sums of duplicates
  output_operand row_offsets;     ///< rows + 1 of int32 or int64
  output_operand sorted_columns;  ///< room for one per entry, int32 or int64
  output_operand sorted_values;   ///< room for one per entry, of the values' type
};

/// Writes the matrix's arrays, and returns the number of its values, which may be fewer than
/// entries.
/// @throws error size_mismatch, invalid_argument (an index outside the matrix, or too large for its
///               type), unsupported_type, null_pointer, misaligned, wrong_memory, before anything
///               is written; std::bad_alloc.
TALLY_EXPORT std::size_t csr_from_coo(const coo_arguments& arguments);

/// The matrix of m rows and n columns with these entries. Zeros stay stored.
/// `csr_from_coo<std::int64_t, std::int64_t>` has offsets and columns of 64 bits.
///
/// @param row_indices     std::int32_t or std::int64_t, one per entry, as `column_indices`.
/// @param column_indices  counted from 0.
/// @param values          floating-point or complex numbers, one per entry.
/// @param g               `tally::exact` for exact sums of duplicates, each rounded once.
/// @throws error as above.
template <csr_index Offset = std::int32_t, csr_index Column = std::int32_t, class Rows,
          class Columns, class Values>
auto csr_from_coo(std::size_t m, std::size_t n, const Rows& row_indices,
                  const Columns& column_indices, const Values& values, grade g = {}) {
  if constexpr (detail::is_vector<Rows>() && detail::is_vector<Columns>() &&
                detail::is_vector<Values>()) {
    using Value = element_t<Values>;
    constexpr bool valid =
        is_in<detail::matrix_value_types>(type_of<Value>) &&
        is_in<type_list<std::int32_t, std::int64_t>>(type_of<element_t<Rows>>) &&
        is_in<type_list<std::int32_t, std::int64_t>>(type_of<element_t<Columns>>);
    static_assert(valid,
                  "entries have row and column indices of std::int32_t or std::int64_t, and values "
                  "of a floating-point or complex type");
    csr_matrix<Value, Offset, Column> made;
    if constexpr (valid) {
      made.rows = m;
      made.columns = n;
      const operand all = as_operand(values);
      made.row_offsets.resize(m < made.row_offsets.max_size() ? m + 1 : 0);  // else refused below
      made.column_indices.resize(all.size);
      made.values.resize(all.size);
      const auto output = [](auto& v, type element) {
        return output_operand{v.data(), v.size(), 1, element};
      };
      constexpr auto index = [](std::size_t size) { return size == 8 ? type::int64 : type::int32; };
      const std::size_t stored =
          csr_from_coo({m, n, as_operand(row_indices), as_operand(column_indices), all, g,
                        output(made.row_offsets, index(sizeof(Offset))),
                        output(made.column_indices, index(sizeof(Column))),
                        output(made.values, type_of<Value>)});
      made.column_indices.resize(stored);
      made.values.resize(stored);
    }
    return made;
  } else {
    return csr_matrix<double>();
  }
}

}  // namespace tally
