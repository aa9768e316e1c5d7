// Sparse matrix times vector: y = op(A) x, y = alpha op(A) x + beta y, A in compressed sparse rows
// (CSR), op(A) = A, its transpose or its conjugate transpose.
//
// Promise: the bits of y_i depend on the values, columns and order of row i's terms, on x, alpha,
// beta, y_i and the types alone; they are the same on every executor, with and without a plan. The
// terms t_j = value_j * x[column_j] of a row are computed in the accumulator's type A (each input
// converted to A, the product rounded, no fused multiply-add) and summed in the row order, which
// depends on their number n alone:
//
//   - Up to 128 terms: 8 lanes. Lane l starts at +0 and adds t_l, t_(l+8), ... in that order; the
//     lanes fold in halves: lane l takes lane l+4, then l+2, then l+1.
//   - Longer rows: as `dot` sums n terms (<tally/order.hpp>).
//
// A is the accumulator of a dot product of the matrix's values and x (`dot_result_t`): float32
// values with a float64 x are summed in float64. Complex terms are four real sums, combined last,
// as in `dot`. The sum of an empty row is +0. Then, with C the wider of A and y's type (float64
// where one is, complex where one is),
//
//     y_i = alpha * sum_i               where beta is 0: y is not read
//     y_i = alpha * sum_i + beta * y_i  elsewhere
//
// in C, each product and the sum rounded, and rounded once to y's type; alpha and beta are
// converted to C, and a complex factor whose imaginary part is zero multiplies both parts by its
// real part, as in `axpby`. Whether beta, or that part, is zero, is asked before the conversion, in
// which it may become zero. A NaN is the positive quiet NaN with an empty payload.
//
// With `transpose(A)` or `conjugate_transpose(A)` in A's place sum_c is that of column c: its terms
// in the order of the rows, those of one row as the row has them, in the row order.
//
// Types: values of float16, bfloat16, float32, float64, complex64, complex128; x and y of float32,
// float64, complex64, complex128, y complex where the values or x are; row offsets and column
// indices integers of 32 or 64 bits, signed or not, chosen apart. Anything else doesn't compile, or
// is unsupported_type where types are values.
//
// With `tally::exact` as the last argument sum_i is the exact real sum, rounded once to A
// (<tally/exact.hpp>).
//
// Where they run: on the CPU backends a call returns when y is written. `simd` and `openmp` copy an
// x that has a stride or another type than A whole, unless A is complex or the sums are exact. On
// CUDA it returns once the work is queued on the executor's stream, and may be captured in a graph.
// A product of a large matrix without a plan, or with hot columns or a buffer, takes memory from a
// pool in the order of the stream; captured, the memory is the graph's. Executable graphs made of
// one captured graph must not run at the same time then, and with a buffer there can be only one. A
// product with a transpose and no plan validates the matrix, allocates and, on CUDA, waits: it
// can't be captured.
//
// The matrix: row i has the terms row_offsets[i] ... row_offsets[i+1] - 1. row_offsets[0] is 0,
// offsets don't decrease, the last one is the number of values; columns lie in [0, columns). Within
// a row columns may be in any order and repeat. A matrix of four arrays says for each row where it
// ends, too: row i has the terms row_offsets[i] ... row_ends[i] - 1, anywhere among the values, and
// what lies between rows is not read. `validate` checks all of that; `spmv` what takes no time:
// sizes, and of three arrays in host memory the first and the last offset. A matrix that is broken
// otherwise is the caller's to keep away from `spmv`.
//
// Errors (tally::error), before anything is written: size_mismatch; null_pointer; zero_increment;
// misaligned; unsupported_type; invalid_argument (a matrix or a plan that can't be); overlap, if y
// shares memory with x or the matrix; wrong_memory if the executor can't reach an operand;
// device_failure; out_of_memory on a device, on the host std::bad_alloc.
#pragma once

#include <tally/call_options.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace tally {

namespace backends {
struct spmv_analysis;
struct csr_transpose;
}  // namespace backends

// --- The matrix -----------------------------------------------------------------------------------

namespace spmvs {

template <class Index, class... Listed>
constexpr bool is_one_of(type_list<Listed...>) {
  return (... || std::same_as<Index, Listed>);
}

}  // namespace spmvs

/// A row offset or a column index: an integer of 32 or 64 bits. Unsigned ones are read as signed
/// ones of as many bits, and messages about a matrix that is broken say them so.
template <class Index>
concept csr_index =
    (sizeof(Index) == 4 || sizeof(Index) == 8) &&
    spmvs::is_one_of<Index>(
        type_list<int, unsigned, long, unsigned long, long long, unsigned long long>{});

/// What a product takes for A, the matrix that is stored: op(A) in the terms of BLAS.
enum class matrix_operation : std::uint8_t {
  none,                 ///< A
  transpose,            ///< its transpose
  conjugate_transpose,  ///< its transpose, with conjugated values
};

namespace spmvs {

/// `Array` can be one of a matrix's arrays: a contiguous range, memory with `data()` and `size()`,
/// or a rank-1 `Kokkos::View`.
template <class Array>
concept array = requires {
  typename operands::value<Array>::type;
} && (operands::contiguous<Array> || operands::view<Array> || operands::sized_memory<Array>);

template <array Array>
using element_of_array = typename operands::value<Array>::type;

/// `Array` is an array of T, or where that is void of any index or value.
template <class Array, class T>
concept array_of = array<Array> && std::same_as<element_of_array<Array>, T>;
template <class Array, class T>
concept index_array_of =
    array<Array> && csr_index<element_of_array<Array>> && (std::is_void_v<T> || array_of<Array, T>);
template <class Array, class T>
concept value_array_of =
    array<Array> && element<element_of_array<Array>> && (std::is_void_v<T> || array_of<Array, T>);

/// Whether these are the three or four arrays of a matrix.
template <class Value, class Offset, class Column, class... Arrays>
inline constexpr bool are_arrays = false;
template <class Value, class Offset, class Column, class Offsets, class Columns, class Values>
inline constexpr bool are_arrays<Value, Offset, Column, Offsets, Columns, Values> =
    index_array_of<Offsets, Offset> && index_array_of<Columns, Column> &&
    value_array_of<Values, Value>;
template <class Value, class Offset, class Column, class Begins, class Ends, class Columns,
          class Values>
inline constexpr bool are_arrays<Value, Offset, Column, Begins, Ends, Columns, Values> =
    index_array_of<Begins, Offset> && are_arrays<Value, Offset, Column, Ends, Columns, Values>;

/// Returns the elements of an array.
/// @throws error invalid_argument if it is a View whose elements lie apart.
template <array Array>
std::span<const element_of_array<Array>> span_of(const char* name, const Array& all) {
  if constexpr (operands::view<Array>) {
    const auto n = static_cast<std::size_t>(all.extent(0));
    if (n > 1 && all.stride(0) != 1) {
      throw error(errc::invalid_argument, std::string("tally::csr_view: ") + name +
                                              " has a stride; a matrix's arrays are contiguous");
    }
    return {operands::address(all), n};
  } else if constexpr (operands::contiguous<Array>) {
    return {std::ranges::data(all), static_cast<std::size_t>(std::ranges::size(all))};
  } else {
    return {all.data(), static_cast<std::size_t>(all.size())};
  }
}

/// Returns indices as an operand. Unsigned ones are read as signed ones of as many bits.
template <csr_index Index>
operand indices(std::span<const Index> all) noexcept {
  return {all.data(), all.size(), 1, sizeof(Index) == 8 ? type::int64 : type::int32};
}

}  // namespace spmvs

/// A matrix in compressed sparse rows, owned by the caller. `tally::csr_view A{rows, columns,
/// row_offsets, column_indices, values}` takes vectors, spans, arrays or contiguous rank-1
/// `Kokkos::View`s; of device memory, `std::span(pointer, size)`.
template <element Value, csr_index Offset = std::int32_t, csr_index Column = std::int32_t>
struct csr_view {
  std::size_t rows = 0;                    ///< its height
  std::size_t columns = 0;                 ///< its width
  std::span<const Offset> row_offsets;     ///< rows + 1 of them; with row_ends, rows
  std::span<const Column> column_indices;  ///< as many as values
  std::span<const Value> values;           ///< row after row
  /// Where rows end, if they don't end where the next one begins: one for each row.
  std::optional<std::span<const Offset>> row_ends = {};

  /// A view of nothing, to be assigned to.
  csr_view() = default;

  /// Views the three arrays of CSR.
  /// @throws error invalid_argument if an array is a View with a stride, or indices are uint32 and
  ///               some may be too large for int32.
  csr_view(std::size_t height, std::size_t width, std::span<const Offset> offsets,
           std::span<const Column> indices, std::span<const Value> elements)
      : rows(height),
        columns(width),
        row_offsets(offsets),
        column_indices(indices),
        values(elements) {
    constexpr std::size_t most = std::size_t{1} << 31;
    if (std::unsigned_integral<Column> && sizeof(Column) == 4 && columns > most) {
      throw error(errc::invalid_argument,
                  "tally::csr_view: column_indices is uint32 and there are " +
                      std::to_string(columns) + " columns; it is for up to " +
                      std::to_string(most));
    }
    if (std::unsigned_integral<Offset> && sizeof(Offset) == 4 && values.size() >= most) {
      throw error(errc::invalid_argument, "tally::csr_view: row_offsets is uint32 and there are " +
                                              std::to_string(values.size()) +
                                              " values; it is for fewer than " +
                                              std::to_string(most));
    }
  }
  /// The same of any arrays.
  template <spmvs::array_of<Offset> Offsets, spmvs::array_of<Column> Columns,
            spmvs::array_of<Value> Values>
  csr_view(std::size_t height, std::size_t width, const Offsets& offsets, const Columns& indices,
           const Values& elements)
      : csr_view(height, width, spmvs::span_of("row_offsets", offsets),
                 spmvs::span_of("column_indices", indices), spmvs::span_of("values", elements)) {}

  /// Views the four arrays of the Sparse BLAS: row i has the terms begins[i] ... ends[i] - 1.
  /// @throws error as above.
  template <spmvs::array_of<Offset> Begins, spmvs::array_of<Offset> Ends,
            spmvs::array_of<Column> Columns, spmvs::array_of<Value> Values>
  csr_view(std::size_t height, std::size_t width, const Begins& begins, const Ends& ends,
           const Columns& indices, const Values& elements)
      : csr_view(height, width, begins, indices, elements) {
    row_ends = spmvs::span_of("row_ends", ends);
  }

  /// Says what the arguments should be.
  template <class... T>
    requires(!spmvs::are_arrays<Value, Offset, Column, T...>)
  csr_view(std::size_t, std::size_t, const T&...) {
    static_assert(refusals::never<T...>,
                  "a tally::csr_view is made of rows, columns, row_offsets, column_indices and "
                  "values, or of rows, columns, begins, ends, column_indices and values: the "
                  "arrays are adjacent memory with data() and size(), of integers of 32 or 64 "
                  "bits, and of an element type");
  }
};

/// A view takes its types from the arrays that it is made of.
template <spmvs::array Offsets, spmvs::array Columns, spmvs::array Values>
csr_view(std::size_t, std::size_t, const Offsets&, const Columns&, const Values&)
    -> csr_view<spmvs::element_of_array<Values>, spmvs::element_of_array<Offsets>,
                spmvs::element_of_array<Columns>>;
/// The same of four arrays.
template <spmvs::array Begins, spmvs::array Ends, spmvs::array Columns, spmvs::array Values>
csr_view(std::size_t, std::size_t, const Begins&, const Ends&, const Columns&, const Values&)
    -> csr_view<spmvs::element_of_array<Values>, spmvs::element_of_array<Begins>,
                spmvs::element_of_array<Columns>>;
/// What is no array is refused by the constructor of any type.
template <class... T>
  requires(!spmvs::are_arrays<void, void, void, T...>)
csr_view(std::size_t, std::size_t, const T&...) -> csr_view<double>;

/// The transpose of a matrix, or its conjugate transpose, for products. It refers to the arrays of
/// the matrix, and is what `transpose` and `conjugate_transpose` return.
template <element Value, csr_index Offset, csr_index Column>
struct transposed_view {
  csr_view<Value, Offset, Column> matrix;                    ///< A
  matrix_operation operation = matrix_operation::transpose;  ///< what is taken for it
};

/// The transpose of A.
template <element Value, csr_index Offset, csr_index Column>
transposed_view<Value, Offset, Column> transpose(const csr_view<Value, Offset, Column>& a) {
  return {a, matrix_operation::transpose};
}

/// The transpose of A, with conjugated values; of real ones, the transpose.
template <element Value, csr_index Offset, csr_index Column>
transposed_view<Value, Offset, Column> conjugate_transpose(
    const csr_view<Value, Offset, Column>& a) {
  return {a, matrix_operation::conjugate_transpose};
}

/// A matrix, its types erased.
struct csr_operand {
  std::size_t rows = 0;     ///< the height of A, as it is stored
  std::size_t columns = 0;  ///< its width
  operand row_offsets;      ///< int32 or int64; rows + 1 of them, or with row_ends, rows
  operand column_indices;   ///< int32 or int64
  operand values;           ///< row after row
  std::optional<operand> row_ends = {};  ///< where rows end, of the type of row_offsets
  matrix_operation operation = matrix_operation::none;  ///< what products take for A

  /// How many values it has, zeros among them, and with row_ends those that are in no row.
  std::size_t nonzeros() const noexcept { return values.size; }
  /// The height of what products take for it: the elements of y.
  std::size_t height() const noexcept {
    return operation == matrix_operation::none ? rows : columns;
  }
  /// The width of that: the elements of x.
  std::size_t width() const noexcept {
    return operation == matrix_operation::none ? columns : rows;
  }
};

/// A matrix with its types erased.
template <element Value, csr_index Offset, csr_index Column>
csr_operand as_operand(const csr_view<Value, Offset, Column>& a) noexcept {
  csr_operand erased{a.rows, a.columns, spmvs::indices(a.row_offsets),
                     spmvs::indices(a.column_indices), as_operand(a.values)};
  if (a.row_ends) erased.row_ends = spmvs::indices(*a.row_ends);
  return erased;
}

/// A transpose with its types erased.
template <element Value, csr_index Offset, csr_index Column>
csr_operand as_operand(const transposed_view<Value, Offset, Column>& a) noexcept {
  csr_operand erased = as_operand(a.matrix);
  erased.operation = a.operation;
  return erased;
}

namespace spmvs {

template <class M>
struct value {};
template <class Value, class Offset, class Column>
struct value<csr_view<Value, Offset, Column>> {
  using type = Value;
};
template <class Value, class Offset, class Column>
struct value<transposed_view<Value, Offset, Column>> {
  using type = Value;
};

}  // namespace spmvs

/// `M` is a matrix that vectors are multiplied by: a `csr_view`, or the `transpose` of one.
template <class M>
concept sparse_matrix = requires { typename spmvs::value<M>::type; };

/// The type of a matrix's values.
template <sparse_matrix M>
using matrix_value_t = typename spmvs::value<M>::type;

/// Checks a whole matrix: sizes, offsets that start at 0, don't decrease and end at the number of
/// values, columns in [0, columns); of four arrays, that rows lie among the values, and their
/// columns. Reads all offsets and columns once, where they are; blocks.
/// @throws error size_mismatch or invalid_argument, with the first thing that is wrong: "tally::
///               validate: row 3 ends at 17, before it starts at 20"; null_pointer, misaligned,
///               unsupported_type, wrong_memory, device_failure.
TALLY_EXPORT void validate(const executor& where, const csr_operand& matrix);

/// The same of a view.
template <sparse_matrix M>
void validate(const executor& where, const M& a) {
  validate(where, as_operand(a));
}

/// As above, on `automatic()`.
template <sparse_matrix M>
void validate(const M& a) {
  validate(automatic(), as_operand(a));
}

// --- A plan ---------------------------------------------------------------------------------------

/// The caller's promise that a matrix's column indices stay as they are, at the address where they
/// are, while a plan of it is used. Its values may change. A plan may then keep what it has found
/// out about the columns, and products read that in their place.
struct fixed_columns_t {
  explicit fixed_columns_t() = default;
};
/// See `fixed_columns_t`: `tally::spmv_plan(where, A, tally::fixed_columns)`.
inline constexpr fixed_columns_t fixed_columns{};

/// The caller's promise that a matrix's columns and values stay as they are, at their addresses,
/// while a plan of it is used. It is that of `fixed_columns`, too. A plan of a transpose then keeps
/// the values in the order of its columns, one on `simd` or `openmp` in the order in which products
/// read them. A value that is changed in place may or may not be seen by products.
struct fixed_values_t {
  explicit fixed_values_t() = default;
};
/// See `fixed_values_t`: `tally::spmv_plan(where, tally::transpose(A), tally::fixed_values)`.
inline constexpr fixed_values_t fixed_values{};

/// `P` is what a caller may promise about a matrix: `fixed_columns` or `fixed_values`.
template <class P>
concept matrix_promise = std::same_as<P, fixed_columns_t> || std::same_as<P, fixed_values_t>;

/// Lets a plan on `cuda` be made while the caller goes on: see `spmv_plan`.
struct queued_t {
  explicit queued_t() = default;
};
/// See `queued_t`: `tally::spmv_plan(where, A, tally::fixed_columns, tally::queued)`.
inline constexpr queued_t queued{};

/// What is worth knowing of a matrix before it is multiplied many times: how its rows are shared
/// out, and on a device what is kept there for that; of a transpose, where each column has its
/// terms. It changes the time, never a bit.
///
/// A plan is for the row offsets that it was made of, at the address where they were: they must
/// stay as they are. Column indices and values may change, columns within range, unless the plan
/// was made with a promise: with `fixed_columns` column indices must stay as they are, at their
/// address, with `fixed_values` the values, too. A plan of a transpose is always for the column
/// indices; with `fixed_values` it has a copy of the values, which products read in their place, as
/// has any plan with `fixed_values` on `simd` and `openmp` of `float` or `double`.
/// It may be used by several threads and streams at once. Copies share what it holds; one has to
/// outlive graphs that products with it were captured in. cudaDeviceReset ends it: products with it
/// are then refused; so are those with one that was moved from, `wait` and `describe`:
/// invalid_argument. On `serial` and `kokkos`, and without a promise on `simd` and `openmp`, a plan
/// that is of no transpose only validates and describes.
///
/// A plan that is `queued` on a stream of `cuda` has work there when its constructor returns, which
/// has checked what takes no time: sizes, types, where the arrays are. `wait`, `describe` and the
/// first product, on any stream and also one that is captured, wait for that work, not for what
/// comes behind it, and make the plan. What is wrong with the matrix is told by them, by each
/// of them and with the constructor's text, after what is wrong with a product's own arguments; a
/// product writes nothing then. Until one of them returns, or the plan is destroyed, which waits,
/// too, the matrix must stay as it is. Plans of transposes, of no rows and on other backends are
/// made in the constructor, which tells errors then; one of four arrays waits there.
class TALLY_EXPORT spmv_plan {
 public:
  /// Validates the matrix, analyses it where it is; blocks. It takes as long as one or two products
  /// of a large matrix, with a promise about its columns two to twenty, of a transpose two to
  /// thirty; on a device 15 us at least, since the host waits for what is found there. A plan of a
  /// transpose takes for each nonzero, where the matrix is, two indices of 4 bytes, or of 8 where
  /// one has to be larger than 2^31, and with `fixed_values` one and the value (on `kokkos` always
  /// two of 8); while it is made on a device, six and a sort's more. With a promise a plan on
  /// `cuda` may take for each row a byte, or for each nonzero two to six, one on `simd` or
  /// `openmp` 32 bytes for each run of adjacent rows of one pattern, with `fixed_values` for each
  /// nonzero the value and up to 4 bytes; `describe()` says which.
  /// @throws error as `validate`, and out_of_memory.
  template <sparse_matrix M>
  spmv_plan(const executor& where, const M& a) : spmv_plan(where, as_operand(a)) {}
  /// The same with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const executor& where, const M& a, P promise)
      : spmv_plan(where, as_operand(a), promise) {}
  /// The same of a matrix whose types are erased.
  spmv_plan(const executor& where, const csr_operand& matrix);
  /// The same of a matrix whose types are erased, with a promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_columns_t);
  /// The same with the other promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_values_t);

  /// The same, queued: it does not wait.
  /// @throws error as `validate`, but for what is wrong with offsets and columns; invalid_argument
  ///               if the stream is being captured; out_of_memory.
  template <sparse_matrix M>
  spmv_plan(const executor& where, const M& a, queued_t)
      : spmv_plan(where, as_operand(a), queued) {}
  /// The same with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const executor& where, const M& a, P promise, queued_t)
      : spmv_plan(where, as_operand(a), promise, queued) {}
  /// The same of a matrix whose types are erased.
  spmv_plan(const executor& where, const csr_operand& matrix, queued_t);
  /// The same of a matrix whose types are erased, with a promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_columns_t, queued_t);
  /// The same with the other promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_values_t, queued_t);

  /// Says what the arguments should be.
  template <class First, class... T>
    requires(!sparse_matrix<First>)
  explicit spmv_plan(const First&, ...) : spmv_plan(serial(), csr_operand{}) {
    static_assert(refusals::never<First>,
                  "a tally::spmv_plan is made of a tally::csr_view (of a tally::csr_matrix its "
                  "view()), or the tally::transpose or tally::conjugate_transpose of one; before "
                  "it there may be an executor, and behind it tally::fixed_columns or "
                  "tally::fixed_values and then, with an executor, tally::queued; the grade is "
                  "the product's");
  }

  /// As above, on what `automatic()` chooses for this matrix.
  template <sparse_matrix M>
  explicit spmv_plan(const M& a) : spmv_plan(automatic(), a) {}
  /// As above, on what `automatic()` chooses, with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const M& a, P promise) : spmv_plan(automatic(), a, promise) {}

  /// The executor that it was made on, never `automatic()`.
  const executor& where() const noexcept { return where_; }
  /// How rows are summed and why: "equal shares of rows and terms for 8 threads; ...". Waits.
  /// @throws error as `wait`.
  const std::string& describe() const;
  /// Waits until a plan that was queued is made; returns at once where it is.
  /// @throws error what the constructor would have thrown.
  void wait() const;
  /// Whether it was queued.
  bool is_queued() const noexcept { return queued_; }

  /// The matrix that it was made of.
  const csr_operand& matrix() const noexcept { return matrix_; }
  /// Whether the caller has promised that its columns stay.
  bool has_fixed_columns() const noexcept { return promised_ != promised::nothing; }
  /// Whether the caller has promised that its columns and values stay.
  bool has_fixed_values() const noexcept { return promised_ == promised::columns_and_values; }
  /// What the backend keeps of it.
  const backends::spmv_analysis* analysis() const noexcept { return analysis_.get(); }
  /// What the backend keeps of its transpose; null if products take the matrix itself.
  const backends::csr_transpose* transpose() const noexcept { return transpose_.get(); }

 private:
  enum class promised : std::uint8_t { nothing, columns, columns_and_values };
  spmv_plan(const executor& where, const csr_operand& matrix, promised stays, bool is_queued);

  executor where_;
  csr_operand matrix_;
  promised promised_;
  bool queued_;
  std::shared_ptr<const backends::csr_transpose> transpose_;
  std::shared_ptr<const backends::spmv_analysis> analysis_;
};

// --- The product ----------------------------------------------------------------------------------

/// What one product is asked for, its types erased. Element types are checked at run time.
struct spmv_arguments {
  csr_operand a;                           ///< the matrix, and what is taken for it
  operand x;                               ///< as many elements as that has columns
  output_operand y;                        ///< as many as it has rows
  scalar alpha = 1;                        ///< the factor of A x
  scalar beta = 0;                         ///< the factor of y
  const spmv_plan* plan = nullptr;         ///< of this matrix and backend, or null
  call_options options = {.wait = false};  ///< set its grade; nothing here waits
  /// The vector that beta multiplies, where it is not y itself: of the type and size of y. It is
  /// read whatever beta is.
  std::optional<operand> added = {};

  /// The vector that beta multiplies.
  operand addend() const noexcept { return added ? *added : operand(y); }
  /// Whether that is read.
  bool reads_addend() const noexcept { return added || !beta.is_zero(); }
};

/// The product with its types erased: what the templates below call, for bindings.
/// @throws error, see the head of this file.
TALLY_EXPORT void spmv(const executor& where, const spmv_arguments& arguments);

namespace spmvs {

/// The values of a matrix may have these types, and the vectors that it is multiplied by and
/// written to have those.
using value_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using vector_types = type_list<float, double, std::complex<float>, std::complex<double>>;

/// Whether values and x, summed, can be written as y.
constexpr bool gives(type value, type x, type y) {
  return is_in<value_types>(value) && is_in<vector_types>(x) && is_in<vector_types>(y) &&
         (is_complex(y) || !(is_complex(value) || is_complex(x)));
}

/// The accumulator.
constexpr type accumulator(type value, type x) {
  return transforms::computation_type(elementwise::axpby, value, x);
}

/// What alpha * sum + beta * y is computed in: C.
constexpr type combination(type accumulator, type y) {
  return transforms::computation_type(elementwise::axpby, accumulator, y);
}

template <class T, class X, class Y>
concept computable = element<T> && vector_operand<std::remove_cvref_t<X>> && vector_output<Y> &&
                     gives(type_of<T>, type_of<element_t<std::remove_cvref_t<X>>>,
                           type_of<element_t<std::remove_cvref_t<Y>>>);

/// `S` can be converted to C.
template <class S, class T, class X, class Y>
concept factor =
    element<S> &&
    transforms::multiplies(type_of<S>, combination(accumulator(type_of<T>, type_of<element_t<X>>),
                                                   type_of<element_t<std::remove_cvref_t<Y>>>));

}  // namespace spmvs

/// y = A x.
///
/// @param where  the executor.
/// @param a      a matrix of m rows and n columns: a `tally::csr_view`, or the `tally::transpose`
///               or `tally::conjugate_transpose` of one.
/// @param x      a vector of n elements: a contiguous range, a `tally::strided`, or a rank-1
///               `Kokkos::View`.
/// @param y      one of m elements that can be written; it shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error see the head of this file.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, nullptr, {g, false}});
}

/// As above, on `automatic()`.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const M& a, const X& x, Y&& y, grade g = {}) {
  spmv(automatic(), a, x, y, g);
}

/// y = alpha A x + beta y; with beta 0, y is not read.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(const executor& where, S alpha, const M& a, const X& x, R beta, Y&& y, grade g = {}) {
  spmv(where, spmv_arguments{
                  as_operand(a), as_operand(x), as_output(y), alpha, beta, nullptr, {g, false}});
}

/// As above, on `automatic()`.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(S alpha, const M& a, const X& x, R beta, Y&& y, grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, g);
}

/// w = alpha A x + beta y: residuals, among others. y is an input, and is read whatever beta is.
/// @param y  a vector of m elements.
/// @param w  one of as many elements of y's type, which is written: y itself, or a vector that
///           shares no memory with y.
template <element S, sparse_matrix M, vector_operand X, element R, vector_operand Y,
          vector_output W>
  requires spmvs::computable<matrix_value_t<M>, X, W> &&
           spmvs::factor<S, matrix_value_t<M>, X, W> && spmvs::factor<R, matrix_value_t<M>, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, S alpha, const M& a, const X& x, R beta, const Y& y, W&& w,
          grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a),
                             as_operand(x),
                             as_output(w),
                             alpha,
                             beta,
                             nullptr,
                             {g, false},
                             as_operand(y)});
}

/// As above, on `automatic()`.
template <element S, sparse_matrix M, vector_operand X, element R, vector_operand Y,
          vector_output W>
  requires spmvs::computable<matrix_value_t<M>, X, W> &&
           spmvs::factor<S, matrix_value_t<M>, X, W> && spmvs::factor<R, matrix_value_t<M>, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(S alpha, const M& a, const X& x, R beta, const Y& y, W&& w, grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, w, g);
}

/// y = A x, with a plan of the matrix.
/// @param where  the backend that the plan was made on; another stream or number of threads is
/// fine.
/// @throws error also invalid_argument if the plan is of another backend, device or matrix.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const executor& where, const spmv_plan& plan, const M& a, const X& x, Y&& y,
          grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, &plan, {g, false}});
}

/// y = alpha A x + beta y, with a plan of the matrix.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(const executor& where, const spmv_plan& plan, S alpha, const M& a, const X& x, R beta,
          Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), alpha, beta, &plan, {g, false}});
}

/// w = alpha A x + beta y, with a plan of the matrix.
template <element S, sparse_matrix M, vector_operand X, element R, vector_operand Y,
          vector_output W>
  requires spmvs::computable<matrix_value_t<M>, X, W> &&
           spmvs::factor<S, matrix_value_t<M>, X, W> && spmvs::factor<R, matrix_value_t<M>, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, const spmv_plan& plan, S alpha, const M& a, const X& x, R beta,
          const Y& y, W&& w, grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a),
                             as_operand(x),
                             as_output(w),
                             alpha,
                             beta,
                             &plan,
                             {g, false},
                             as_operand(y)});
}

// --- What is no matrix, or no vector -----------------------------------------------------------------

namespace spmvs {

struct matrix {
  template <class T>
  static constexpr bool is = sparse_matrix<T>;
  template <class T>
  static auto say() {
    static_assert(refusals::never<T>,
                  "a matrix is a tally::csr_view (of a tally::csr_matrix its view()), or the "
                  "tally::transpose or tally::conjugate_transpose of one");
  }
};

/// What a product's arguments should be: a factor comes first, or the matrix.
template <class... T>
struct form {
  using type = refusals::arguments<matrix, refusals::vector, refusals::output>;
};
template <element Factor, class... T>
struct form<Factor, T...> {
  using type = refusals::arguments<refusals::factor, matrix, refusals::vector, refusals::factor,
                                   refusals::output>;
};
template <class... T>
struct form<executor, T...> : form<T...> {};
template <class... T>
struct form<spmv_plan, T...> : form<T...> {};
template <class... T>
using form_t = typename form<T...>::type;

}  // namespace spmvs

namespace refusals {

/// A plan may stand before the other arguments.
template <class... Kind, class... T>
struct of_call<arguments<Kind...>, spmv_plan, T...> : of_call<arguments<Kind...>, T...> {};

}  // namespace refusals

/// Says what is no matrix, vector or factor.
template <class... T>
  requires refusals::refused<spmvs::form_t<T...>, T...>
auto spmv(const T&...) {
  return refusals::refuse<spmvs::form_t<T...>, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto spmv(...) {
  static_assert(refusals::never<T...>,
                "spmv(A, x, y), spmv(alpha, A, x, beta, y) or spmv(alpha, A, x, beta, y, w) may "
                "begin with an executor, behind which a plan may stand, and end with "
                "tally::exact; A x is no integer where y is one, and complex where y is not it "
                "can't be; w is of y's type");
  return 0.0;
}

/// Says what is no matrix.
template <class... T>
auto validate(...) {
  static_assert(refusals::never<T...>,
                "validate takes an executor or none, and a tally::csr_view (of a "
                "tally::csr_matrix its view()), or the tally::transpose or "
                "tally::conjugate_transpose of one");
}

/// Says what is no matrix.
template <class... T>
auto transpose(...) {
  static_assert(refusals::never<T...>,
                "transpose is of a tally::csr_view (of a tally::csr_matrix its view())");
}

/// Says what is no matrix.
template <class... T>
auto conjugate_transpose(...) {
  static_assert(refusals::never<T...>,
                "conjugate_transpose is of a tally::csr_view (of a tally::csr_matrix its view())");
}

}  // namespace tally
