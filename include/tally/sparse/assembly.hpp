// Assembly of a sparse matrix from entries in any order.
//
// Promise: the matrix depends on the entries and their order alone. Rows are sorted by column;
// entries of one row and column become one value, their sum: in the order given, (v_0 + v_1) + v_2
// ..., in the type that `sum` has for them, or with `tally::exact` the exact sum rounded once to
// that type; then rounded to the values' type. A value without another one stays as it is, bit by
// bit; a NaN of a sum is the positive quiet one with an empty payload.
//
// Blocking: always, and no capture of the stream, since the number of values is returned. `openmp`
// sorts on its threads, `kokkos` on a device and a workspace copies on one of the host's. Entries
// that are in order are not sorted. CPUs allocate 8 bytes per row, and for entries in another order
// at most three copies of them; `cuda` 32 bytes per entry, from 2^31 - 1 rows, columns or entries
// on 64, and for exact sums also a copy and a sum of each.
#pragma once

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/sparse/csr_matrix.hpp>
#include <tally/sparse/spmv.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tally {

/// Arguments with types erased. Outputs are contiguous, and apart from inputs and each other.
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

/// csr_from_coo with types erased.
TALLY_EXPORT std::size_t csr_from_coo(const executor& where, const coo_arguments& arguments);

namespace detail {

/// csr_from_coo with and without arrays to be written.
struct csr_from_coo_call : call<grade, coo_arguments> {
  template <class M, class N, class Rows, class Columns, class Values>
  static consteval wrong of() {
    constexpr wrong why =
        first_wrong<unless(
                        std::convertible_to<M, std::size_t> && std::convertible_to<N, std::size_t>,
                        wrong::arguments_are_of_no_form_of_the_function),
                    wrong_indices<Rows>, wrong_indices<Columns>, wrong_vector<Values>>;
    if constexpr (why == wrong::nothing) {
      return unless(is_in<matrix_value_types>(type_of<element_t<Values>>),
                    wrong::values_of_entries_are_floating_point_or_complex_and_so_the_matrixs);
    } else {
      return why;
    }
  }
  template <class M, class N, class Rows, class Columns, class Values, class Offsets,
            class SortedColumns, class SortedValues>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<of<M, N, Rows, Columns, Values>(), wrong_output<Offsets>,
                                      wrong_output<SortedColumns>, wrong_output<SortedValues>,
                                      wrong_indices<Offsets>, wrong_indices<SortedColumns>>;
    if constexpr (why == wrong::nothing) {
      return unless(std::same_as<element_t<SortedValues>, element_t<Values>>,
                    wrong::values_of_entries_are_floating_point_or_complex_and_so_the_matrixs);
    } else {
      return why;
    }
  }
};

}  // namespace detail

/// Writes the arrays of the matrix of m rows and n columns with these entries, where the executor
/// reaches them. Zeros stay stored. Blocks.
///
/// @param row_indices     std::int32_t or std::int64_t, one per entry, as `column_indices`.
/// @param column_indices  counted from 0.
/// @param values          floating-point or complex numbers, one per entry.
/// @param row_offsets     m + 1 of std::int32_t or std::int64_t.
/// @param sorted_columns  room for one per entry, std::int32_t or std::int64_t.
/// @param sorted_values   room for one per entry, of the values' type.
/// @param g               `tally::exact` for exact sums of entries in one place, each rounded once.
/// @return                the number of values stored, at most that of the entries; nothing is
///                        written behind them.
/// @throws error size_mismatch, invalid_argument (an index outside the matrix, or too large for its
///               type), unsupported_type, null_pointer, misaligned,
///               overlap, wrong_memory, before anything is written; device_failure, out_of_memory;
///               std::bad_alloc.
template <class Rows, class Columns, class Values, class Offsets, class SortedColumns,
          class SortedValues>
  requires detail::taken<detail::csr_from_coo_call, std::size_t, std::size_t, Rows, Columns, Values,
                         Offsets, SortedColumns, SortedValues>
std::size_t csr_from_coo(const executor& where, std::size_t m, std::size_t n,
                         const Rows& row_indices, const Columns& column_indices,
                         const Values& values, Offsets&& row_offsets,
                         SortedColumns&& sorted_columns, SortedValues&& sorted_values,
                         grade g = {}) {
  return csr_from_coo(
      where, {m, n, as_operand(row_indices), as_operand(column_indices), as_operand(values), g,
              as_output(row_offsets), as_output(sorted_columns), as_output(sorted_values)});
}

/// The matrix of m rows and n columns with these entries. Zeros stay stored.
/// `csr_from_coo<std::int64_t, std::int64_t>` has offsets and columns of 64 bits. Runs on the host.
/// @param row_indices,column_indices,values  as above, in host memory.
/// @throws error as above.
template <csr_index Offset = std::int32_t, csr_index Column = std::int32_t, class Rows,
          class Columns, class Values>
  requires detail::taken<detail::csr_from_coo_call, std::size_t, std::size_t, Rows, Columns, Values>
auto csr_from_coo(std::size_t m, std::size_t n, const Rows& row_indices,
                  const Columns& column_indices, const Values& values, grade g = {}) {
  using Value = element_t<Values>;
  csr_matrix<Value, Offset, Column> made;
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
      csr_from_coo(serial(), {m, n, as_operand(row_indices), as_operand(column_indices), all, g,
                              output(made.row_offsets, index(sizeof(Offset))),
                              output(made.column_indices, index(sizeof(Column))),
                              output(made.values, type_of<Value>)});
  made.column_indices.resize(stored);
  made.values.resize(stored);
  return made;
}

/// Refused, by `why`.
template <csr_index Offset = std::int32_t, csr_index Column = std::int32_t, class... T,
          detail::wrong why = detail::wrong_call<detail::csr_from_coo_call, T...>>
  requires detail::refused<why, T...>
void csr_from_coo(T&&...) = delete;  // m, n, rows, columns, values; where, ..., and three arrays

}  // namespace tally
