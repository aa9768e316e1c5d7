// Sparse matrices in compressed sparse rows, as `spmv` takes them.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/error.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/rows.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace tally {

namespace detail {

template <class Index, class... Listed>
constexpr bool is_one_of(type_list<Listed...>) {
  return (... || std::same_as<Index, Listed>);
}

}  // namespace detail

/// A row offset or column index of 32 or 64 bits. Unsigned ones are read as signed.
template <class Index>
concept csr_index =
    (sizeof(Index) == 4 || sizeof(Index) == 8) &&
    detail::is_one_of<Index>(
        type_list<int, unsigned, long, unsigned long, long long, unsigned long long>{});

/// op(A), taken for the stored matrix A.
enum class matrix_operation : std::uint8_t {
  none,                 ///< A
  transpose,            ///< the transpose
  conjugate_transpose,  ///< conjugated transpose
};

namespace detail {

/// Adjacent memory, or a View, which may have a stride.
template <class Array>
concept array = vector<Array> && (contiguous<Array> || view<Array> || sized_memory<Array>);

template <class Array, class T>
concept array_of = array<Array> && std::same_as<value_t<Array>, T>;

/// Three arrays: offsets, columns and values; or four: begins, ends, columns and values.
template <class Value, class Offset, class Column, class... Arrays>
inline constexpr bool are_csr = false;
template <class Value, class Offset, class Column, class Offsets, class Columns, class Values>
inline constexpr bool are_csr<Value, Offset, Column, Offsets, Columns, Values> =
    array_of<Offsets, Offset> && array_of<Columns, Column> && array_of<Values, Value>;
template <class Value, class Offset, class Column, class Begins, class Ends, class Columns,
          class Values>
inline constexpr bool are_csr<Value, Offset, Column, Begins, Ends, Columns, Values> =
    array_of<Begins, Offset> && are_csr<Value, Offset, Column, Ends, Columns, Values>;

/// Types of a view of arrays; any others where it can't be one.
template <class... Arrays>
struct csr_types {
  using value = double;
  using offset = std::int32_t;
  using column = std::int32_t;
};
template <array Offsets, array Columns, array Values>
  requires csr_index<value_t<Offsets>> && csr_index<value_t<Columns>> && element<value_t<Values>>
struct csr_types<Offsets, Columns, Values> {
  using value = value_t<Values>;
  using offset = value_t<Offsets>;
  using column = value_t<Columns>;
};
template <class Begins, class Ends, class Columns, class Values>
struct csr_types<Begins, Ends, Columns, Values> : csr_types<Ends, Columns, Values> {};

/// The elements of an array.
/// @throws error invalid_argument for a View with a stride.
template <array Array>
std::span<const value_t<Array>> span_of(const char* name, const Array& all) {
  const operand erased = as_elements(all, type::boolean);
  if (erased.size > 1 && erased.increment != 1) {
    throw error(errc::invalid_argument, std::string("tally::csr_view: ") + name +
                                            " has a stride; a matrix's arrays are contiguous");
  }
  return {address(all), erased.size};
}

template <csr_index Index>
operand indices(std::span<const Index> all) noexcept {
  return {all.data(), all.size(), 1, sizeof(Index) == 8 ? type::int64 : type::int32};
}

}  // namespace detail

/// A matrix in compressed sparse rows, not owned. `tally::csr_view A{rows, columns, row_offsets,
/// column_indices, values}` takes vectors, spans, arrays or contiguous rank-1 `Kokkos::View`s.
template <element Value, csr_index Offset = std::int32_t, csr_index Column = std::int32_t>
struct csr_view {
  std::size_t rows = 0;                    ///< height
  std::size_t columns = 0;                 ///< width
  std::span<const Offset> row_offsets;     ///< rows + 1, or with row_ends, rows
  std::span<const Column> column_indices;  ///< one per value
  std::span<const Value> values;           ///< row after row
  /// Row ends, if not the next row's begins.
  std::optional<std::span<const Offset>> row_ends = {};

  /// An empty view.
  csr_view() = default;

  /// The three arrays of CSR, row_offsets, column_indices and values; or the four of the Sparse
  /// BLAS, begins and ends of rows, column_indices and values.
  /// @throws error invalid_argument for a View with a stride, or uint32 indices that may exceed
  ///               int32.
  template <class... Arrays>
    requires detail::are_csr<Value, Offset, Column, Arrays...>
  csr_view(std::size_t height, std::size_t width, const Arrays&... arrays)
      : rows(height), columns(width) {
    assign(arrays...);
  }

  /// Refused, by `why`.
  template <class... Arrays,
            detail::wrong why =
                detail::wrong::a_tally_csr_view_is_made_of_two_sizes_and_three_or_four_arrays>
    requires(!detail::are_csr<Value, Offset, Column, Arrays...>)
  csr_view(std::size_t, std::size_t, const Arrays&...) = delete;

 private:
  template <class Offsets, class Columns, class Values>
  void assign(const Offsets& offsets, const Columns& indices, const Values& elements) {
    row_offsets = detail::span_of("row_offsets", offsets);
    column_indices = detail::span_of("column_indices", indices);
    values = detail::span_of("values", elements);
    constexpr std::size_t limit = std::size_t{1} << 31;
    if (std::unsigned_integral<Column> && sizeof(Column) == 4 && columns > limit) {
      throw error(errc::invalid_argument,
                  "tally::csr_view: column_indices is uint32 and there are " +
                      std::to_string(columns) + " columns; it is for up to " +
                      std::to_string(limit));
    }
    if (std::unsigned_integral<Offset> && sizeof(Offset) == 4 && values.size() >= limit) {
      throw error(errc::invalid_argument, "tally::csr_view: row_offsets is uint32 and there are " +
                                              std::to_string(values.size()) +
                                              " values; it is for fewer than " +
                                              std::to_string(limit));
    }
  }
  template <class Begins, class Ends, class Columns, class Values>
  void assign(const Begins& begins, const Ends& ends, const Columns& indices,
              const Values& elements) {
    assign(begins, indices, elements);
    row_ends = detail::span_of("row_ends", ends);
  }
};

/// Types from the arrays.
template <class... Arrays>
csr_view(std::size_t, std::size_t, const Arrays&...)
    -> csr_view<typename detail::csr_types<Arrays...>::value,
                typename detail::csr_types<Arrays...>::offset,
                typename detail::csr_types<Arrays...>::column>;

/// A transpose for products; refers to the matrix's arrays.
template <element Value, csr_index Offset, csr_index Column>
struct transposed_view {
  csr_view<Value, Offset, Column> matrix;                    ///< A
  matrix_operation operation = matrix_operation::transpose;  ///< transpose or conjugate transpose
};

/// A matrix with its types erased.
struct csr_operand {
  std::size_t rows = 0;                  ///< height of A
  std::size_t columns = 0;               ///< width of A
  operand row_offsets;                   ///< int32 or int64; rows + 1, or with row_ends, rows
  operand column_indices;                ///< int32 or int64
  operand values;                        ///< row after row
  std::optional<operand> row_ends = {};  ///< end of each row, of the type of row_offsets
  matrix_operation operation = matrix_operation::none;  ///< op(A)

  /// Stored values, with explicit zeros and, with row_ends, gaps.
  std::size_t nonzeros() const noexcept { return values.size; }
  /// Height of op(A): elements of y.
  std::size_t height() const noexcept {
    return operation == matrix_operation::none ? rows : columns;
  }
  /// Width of op(A): elements of x.
  std::size_t width() const noexcept {
    return operation == matrix_operation::none ? columns : rows;
  }
};

/// A matrix with its types erased.
template <element Value, csr_index Offset, csr_index Column>
csr_operand as_operand(const csr_view<Value, Offset, Column>& a) noexcept {
  csr_operand erased{a.rows, a.columns, detail::indices(a.row_offsets),
                     detail::indices(a.column_indices), as_operand(a.values)};
  if (a.row_ends) erased.row_ends = detail::indices(*a.row_ends);
  return erased;
}

/// A transpose with its types erased.
template <element Value, csr_index Offset, csr_index Column>
csr_operand as_operand(const transposed_view<Value, Offset, Column>& a) noexcept {
  csr_operand erased = as_operand(a.matrix);
  erased.operation = a.operation;
  return erased;
}

namespace detail {

template <class M>
struct matrix_value {};
template <class Value, class Offset, class Column>
struct matrix_value<csr_view<Value, Offset, Column>> {
  using type = Value;
};
template <class Value, class Offset, class Column>
struct matrix_value<transposed_view<Value, Offset, Column>> {
  using type = Value;
};

}  // namespace detail

/// A `csr_view`, or the transpose of one.
template <class M>
concept sparse_matrix = requires { typename detail::matrix_value<std::remove_cvref_t<M>>::type; };

/// Type of a matrix's values.
template <sparse_matrix M>
using matrix_value_t = typename detail::matrix_value<std::remove_cvref_t<M>>::type;

namespace detail {

template <class M>
inline constexpr wrong wrong_matrix =
    unless(sparse_matrix<M>, wrong::a_matrix_is_a_tally_csr_view_or_the_transpose_of_one);

template <sparse_matrix M>
inline constexpr bool is_operand<M> = true;

/// A csr_view itself.
template <class M>
concept stored_matrix = sparse_matrix<M> && requires(const M& a) { a.values; };

/// A dense matrix: rows of one block.
template <class M>
concept dense_rows = rows_operand<M> && !blocks_view<M>;

}  // namespace detail

/// The transpose of A.
template <element Value, csr_index Offset, csr_index Column>
transposed_view<Value, Offset, Column> transpose(const csr_view<Value, Offset, Column>& a) {
  return {a, matrix_operation::transpose};
}

/// The transpose of A with conjugated values.
template <element Value, csr_index Offset, csr_index Column>
transposed_view<Value, Offset, Column> conjugate_transpose(
    const csr_view<Value, Offset, Column>& a) {
  return {a, matrix_operation::conjugate_transpose};
}

/// Refused, by `why`.
template <class M, detail::wrong why = detail::wrong::a_matrix_is_a_tally_csr_view_and_no_transpose>
  requires(!detail::stored_matrix<M> && !detail::dense_rows<M>)
void transpose(const M&) = delete;  // A, a tally::csr_view, or of a tally::csr_matrix its view()

/// Refused, by `why`.
template <class M, detail::wrong why = detail::wrong::a_matrix_is_a_tally_csr_view_and_no_transpose>
  requires(!detail::stored_matrix<M> && !detail::dense_rows<M>)
void conjugate_transpose(const M&) = delete;  // A, a tally::csr_view

}  // namespace tally
