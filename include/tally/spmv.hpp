// Sparse matrix times vector: y = op(A) x, y = alpha op(A) x + beta y, with A in compressed sparse
// rows (CSR) and op(A) = A, its transpose or conjugate transpose.
//
// Promise: the bits of y_i depend on the values, columns and order of row i's terms, x, alpha,
// beta, y_i and the types only. The n terms t_j = value_j*x[column_j] are computed in the
// accumulator's type A (`dot_result_t`; inputs converted, product rounded, no FMA) and summed in
// the row order:
//
//   - n <= 128: 8 lanes. Lane l starts at +0 and adds t_l, t_(l+8), ...; the lanes fold in halves:
//     lane l takes lane l+4, then l+2, then l+1.
//   - Longer rows: as `dot` (<tally/order.hpp>).
//
// Complex terms are four real sums, combined last. An empty sum is +0. With C the wider of A and
// y's type (float64 if one is, complex if one is),
//
//     y_i = alpha*sum_i               if beta is 0: y is not read
//     y_i = alpha*sum_i + beta*y_i  otherwise
//
// in C, each operation rounded, then rounded to y's type. Complex factors with zero imaginary part
// multiply both parts by the real part. Zero is tested before conversion to C. A NaN is the
// positive quiet one with an empty payload.
//
// With a transpose, the terms of column c are summed by row, within a row as stored. With
// `tally::exact`, sum_i is the exact real sum, rounded once to A.
//
// Types: values of float16, bfloat16, float32, float64, complex64, complex128; x and y of the last
// four, y complex where values or x are; offsets and columns of 32 or 64 bits. Anything else
// doesn't compile, or is unsupported_type.
//
// Blocking: CPU backends return when y is written. `simd` and `openmp` copy an x with a stride or
// another type than A, unless A is complex or the sums are exact. CUDA returns once the work is
// queued on the executor's stream, and may be captured in a graph. Large matrices without a plan,
// hub columns and buffers take stream-ordered pool memory; captured, it is the graph's: executable
// graphs of one captured graph must not run at once then, and with a buffer there can be only one.
// A transpose without a plan validates, allocates and, on CUDA, waits: no capture.
//
// The matrix: row i has the terms row_offsets[i] ... row_offsets[i+1] - 1; offsets start at 0,
// don't decrease and end at the number of values; columns lie in [0, columns), maybe unsorted or
// repeated. With four arrays row i ends at row_ends[i] - 1, and rows lie anywhere among the values,
// with unread gaps. `validate` checks all that; `spmv` only sizes and, for three host arrays, the
// first and last offset.
//
// Errors (tally::error), before anything is written: size_mismatch; null_pointer; zero_increment;
// misaligned; unsupported_type; invalid_argument (matrix or plan); overlap, if y shares memory with
// x or the matrix; wrong_memory; device_failure; out_of_memory on a device, on the host
// std::bad_alloc.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/refusal.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
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

// --- The matrix ----------------------------------------------------------------------------------

namespace spmvs {

template <class Index, class... Listed>
constexpr bool is_one_of(type_list<Listed...>) {
  return (... || std::same_as<Index, Listed>);
}

}  // namespace spmvs

/// A row offset or column index of 32 or 64 bits. Unsigned ones are read as signed.
template <class Index>
concept csr_index =
    (sizeof(Index) == 4 || sizeof(Index) == 8) &&
    spmvs::is_one_of<Index>(
        type_list<int, unsigned, long, unsigned long, long long, unsigned long long>{});

/// op(A), taken for the stored matrix A.
enum class matrix_operation : std::uint8_t {
  none,                 ///< A
  transpose,            ///< the transpose
  conjugate_transpose,  ///< conjugated transpose
};

namespace spmvs {

template <class Array>
concept array = requires {
  typename operands::value<Array>::type;
} && (operands::contiguous<Array> || operands::view<Array> || operands::sized_memory<Array>);

template <array Array>
using element_of_array = typename operands::value<Array>::type;

template <class Array, class T>
concept array_of = array<Array> && std::same_as<element_of_array<Array>, T>;
template <class Array, class T>
concept index_array_of =
    array<Array> && csr_index<element_of_array<Array>> && (std::is_void_v<T> || array_of<Array, T>);
template <class Array, class T>
concept value_array_of =
    array<Array> && element<element_of_array<Array>> && (std::is_void_v<T> || array_of<Array, T>);

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

/// The elements of an array.
/// @throws error invalid_argument for a View with a stride.
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

template <csr_index Index>
operand indices(std::span<const Index> all) noexcept {
  return {all.data(), all.size(), 1, sizeof(Index) == 8 ? type::int64 : type::int32};
}

}  // namespace spmvs

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

  /// The three arrays of CSR.
  /// @throws error invalid_argument for a View with a stride, or uint32 indices that may exceed
  ///               int32.
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
  /// The same for any arrays.
  template <spmvs::array_of<Offset> Offsets, spmvs::array_of<Column> Columns,
            spmvs::array_of<Value> Values>
  csr_view(std::size_t height, std::size_t width, const Offsets& offsets, const Columns& indices,
           const Values& elements)
      : csr_view(height, width, spmvs::span_of("row_offsets", offsets),
                 spmvs::span_of("column_indices", indices), spmvs::span_of("values", elements)) {}

  /// The four arrays of the Sparse BLAS.
  /// @throws error as above.
  template <spmvs::array_of<Offset> Begins, spmvs::array_of<Offset> Ends,
            spmvs::array_of<Column> Columns, spmvs::array_of<Value> Values>
  csr_view(std::size_t height, std::size_t width, const Begins& begins, const Ends& ends,
           const Columns& indices, const Values& elements)
      : csr_view(height, width, begins, indices, elements) {
    row_ends = spmvs::span_of("row_ends", ends);
  }

  /// Compile error for wrong arguments.
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

/// Types from the arrays.
template <spmvs::array Offsets, spmvs::array Columns, spmvs::array Values>
csr_view(std::size_t, std::size_t, const Offsets&, const Columns&, const Values&)
    -> csr_view<spmvs::element_of_array<Values>, spmvs::element_of_array<Offsets>,
                spmvs::element_of_array<Columns>>;
/// The same for four arrays.
template <spmvs::array Begins, spmvs::array Ends, spmvs::array Columns, spmvs::array Values>
csr_view(std::size_t, std::size_t, const Begins&, const Ends&, const Columns&, const Values&)
    -> csr_view<spmvs::element_of_array<Values>, spmvs::element_of_array<Begins>,
                spmvs::element_of_array<Columns>>;
/// Compile error in the constructor.
template <class... T>
  requires(!spmvs::are_arrays<void, void, void, T...>)
csr_view(std::size_t, std::size_t, const T&...) -> csr_view<double>;

/// A transpose for products; refers to the matrix's arrays.
template <element Value, csr_index Offset, csr_index Column>
struct transposed_view {
  csr_view<Value, Offset, Column> matrix;                    ///< A
  matrix_operation operation = matrix_operation::transpose;  ///< transpose or conjugate transpose
};

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

/// A `csr_view`, or the transpose of one.
template <class M>
concept sparse_matrix = requires { typename spmvs::value<M>::type; };

/// Type of a matrix's values.
template <sparse_matrix M>
using matrix_value_t = typename spmvs::value<M>::type;

/// Checks the whole matrix; reads all offsets and columns once, in place. Blocks.
/// @throws error size_mismatch or invalid_argument, naming the first fault; null_pointer,
///               misaligned, unsupported_type, wrong_memory, device_failure.
TALLY_EXPORT void validate(const executor& where, const csr_operand& matrix);

/// The same for a view.
template <sparse_matrix M>
void validate(const executor& where, const M& a) {
  validate(where, as_operand(a));
}

/// The same on `automatic()`.
template <sparse_matrix M>
void validate(const M& a) {
  validate(automatic(), as_operand(a));
}

// --- Plans ---------------------------------------------------------------------------------------

/// Promise that column indices don't change or move while a plan is used; values may change.
/// Products may read data derived from them.
struct fixed_columns_t {
  explicit fixed_columns_t() = default;
};
/// See `fixed_columns_t`.
inline constexpr fixed_columns_t fixed_columns{};

/// Promise that columns and values don't change or move while a plan is used. Products may read a
/// plan's copy of the values, so whether they see a value changed in place is unspecified.
struct fixed_values_t {
  explicit fixed_values_t() = default;
};
/// See `fixed_values_t`.
inline constexpr fixed_values_t fixed_values{};

/// `fixed_columns_t` or `fixed_values_t`.
template <class P>
concept matrix_promise = std::same_as<P, fixed_columns_t> || std::same_as<P, fixed_values_t>;

/// Makes `spmv_plan` on `cuda` asynchronously.
struct queued_t {
  explicit queued_t() = default;
};
/// See `queued_t`.
inline constexpr queued_t queued{};

/// Precomputed analysis of a matrix for repeated products. Changes speed, never bits.
///
/// Row offsets must not change or move while a plan is used. Column indices (of a transpose: never)
/// and values may change, unless promised otherwise by `fixed_columns` or `fixed_values`. With
/// `fixed_values` plans of transposes, and any on `simd` and `openmp` of `float` or `double`, copy
/// the values for products.
///
/// Threads and streams may share a plan. Copies share the analysis; one must outlive captured
/// products. After cudaDeviceReset or a move, uses throw invalid_argument. On `serial` and
/// `kokkos`, and without a promise on `simd` and `openmp`, a plan of no transpose only validates
/// and describes.
///
/// `queued` on `cuda`, the constructor checks sizes, types and memory, and returns with work
/// queued. `wait`, `describe` and the first product, also captured or on another stream, wait for
/// that work only, complete the plan and report a fault of the matrix, as the constructor would; a
/// product then writes nothing. Until one of these, or the destructor, has returned, the matrix
/// must not change. Plans of transposes, of no rows and on other backends are completed in the
/// constructor; with four arrays it waits.
class TALLY_EXPORT spmv_plan {
 public:
  /// Validates and analyses the matrix in place; blocks (tuning/spmv.md: spmv_plan). Memory, beside
  /// the matrix: for a transpose two indices per nonzero, of 4 bytes, or 8 beyond 2^31, with
  /// `fixed_values` one and the value (`kokkos`: two of 8); on a device temporarily six and
  /// scratch. With a promise, on `cuda` up to six bytes per nonzero, or one per row and 67 KiB; on
  /// `simd` and `openmp` up to 4 bytes per nonzero, with `fixed_values` the value, too. See
  /// `describe()`.
  /// @throws error as `validate`, and out_of_memory.
  template <sparse_matrix M>
  spmv_plan(const executor& where, const M& a) : spmv_plan(where, as_operand(a)) {}
  /// The same with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const executor& where, const M& a, P promise)
      : spmv_plan(where, as_operand(a), promise) {}
  /// The same with types erased.
  spmv_plan(const executor& where, const csr_operand& matrix);
  /// The same with a promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_columns_t);
  /// The same with the other promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_values_t);

  /// The same, queued.
  /// @throws error as `validate` except for wrong offsets and columns; invalid_argument while the
  ///               stream is captured; out_of_memory.
  template <sparse_matrix M>
  spmv_plan(const executor& where, const M& a, queued_t)
      : spmv_plan(where, as_operand(a), queued) {}
  /// The same with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const executor& where, const M& a, P promise, queued_t)
      : spmv_plan(where, as_operand(a), promise, queued) {}
  /// The same with types erased.
  spmv_plan(const executor& where, const csr_operand& matrix, queued_t);
  /// The same with a promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_columns_t, queued_t);
  /// The same with the other promise.
  spmv_plan(const executor& where, const csr_operand& matrix, fixed_values_t, queued_t);

  /// Compile error for wrong arguments.
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

  /// The same on `automatic()`'s choice.
  template <sparse_matrix M>
  explicit spmv_plan(const M& a) : spmv_plan(automatic(), a) {}
  /// The same with a promise.
  template <sparse_matrix M, matrix_promise P>
  spmv_plan(const M& a, P promise) : spmv_plan(automatic(), a, promise) {}

  /// Never `automatic()`.
  const executor& where() const noexcept { return where_; }
  /// How rows are summed and why, for people. Waits.
  /// @throws error as `wait`.
  const std::string& describe() const;
  /// Waits until a queued plan is complete.
  /// @throws error as the constructor would have.
  void wait() const;
  /// Whether the plan was queued.
  bool is_queued() const noexcept { return queued_; }

  /// The matrix.
  const csr_operand& matrix() const noexcept { return matrix_; }
  /// Whether columns are fixed.
  bool has_fixed_columns() const noexcept { return promised_ != promised::nothing; }
  /// Whether columns and values are fixed.
  bool has_fixed_values() const noexcept { return promised_ == promised::columns_and_values; }
  /// The backend's data.
  const backends::spmv_analysis* analysis() const noexcept { return analysis_.get(); }
  /// The backend's transpose or null.
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

// --- Products ------------------------------------------------------------------------------------

/// Arguments with types erased, checked at run time.
struct spmv_arguments {
  csr_operand a;                           ///< A, and op
  operand x;                               ///< of the width of op(A)
  output_operand y;                        ///< of the height of op(A)
  scalar alpha = 1;                        ///< factor of A x
  scalar beta = 0;                         ///< factor of y
  const spmv_plan* plan = nullptr;         ///< of this matrix and backend, or null
  call_options options = {.wait = false};  ///< the grade; products don't wait
  /// The vector that beta multiplies, always read, if not y; of y's type and size.
  std::optional<operand> added = {};

  /// The vector that beta multiplies.
  operand addend() const noexcept { return added ? *added : operand(y); }
  /// Whether the addend is read.
  bool reads_addend() const noexcept { return added || !beta.is_zero(); }
};

/// The product with types erased.
TALLY_EXPORT void spmv(const executor& where, const spmv_arguments& arguments);

namespace spmvs {

using value_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using vector_types = type_list<float, double, std::complex<float>, std::complex<double>>;

constexpr bool gives(type value, type x, type y) {
  return is_in<value_types>(value) && is_in<vector_types>(x) && is_in<vector_types>(y) &&
         (is_complex(y) || !(is_complex(value) || is_complex(x)));
}

constexpr type accumulator(type value, type x) {
  return transforms::computation_type(elementwise::axpby, value, x);
}

/// C.
constexpr type combination(type accumulator, type y) {
  return transforms::computation_type(elementwise::axpby, accumulator, y);
}

template <class T, class X, class Y>
concept computable = element<T> && vector_operand<std::remove_cvref_t<X>> && vector_output<Y> &&
                     gives(type_of<T>, type_of<element_t<std::remove_cvref_t<X>>>,
                           type_of<element_t<std::remove_cvref_t<Y>>>);

template <class S, class T, class X, class Y>
concept factor =
    element<S> &&
    transforms::multiplies(type_of<S>, combination(accumulator(type_of<T>, type_of<element_t<X>>),
                                                   type_of<element_t<std::remove_cvref_t<Y>>>));

}  // namespace spmvs

/// y = A x.
///
/// @param a      a `tally::csr_view` of m rows and n columns, or a transpose of such.
/// @param x      n elements.
/// @param y      m writable elements; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, nullptr, {g, false}});
}

/// The same on `automatic()`.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const M& a, const X& x, Y&& y, grade g = {}) {
  spmv(automatic(), a, x, y, g);
}

/// y = alpha A x + beta y; y is not read where beta is 0.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(const executor& where, S alpha, const M& a, const X& x, R beta, Y&& y, grade g = {}) {
  spmv(where, spmv_arguments{
                  as_operand(a), as_operand(x), as_output(y), alpha, beta, nullptr, {g, false}});
}

/// The same on `automatic()`.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(S alpha, const M& a, const X& x, R beta, Y&& y, grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, g);
}

/// w = alpha A x + beta y, such as residuals; y is always read.
/// @param y      m elements.
/// @param w      m writable elements of y's type: y itself, or sharing no memory with y.
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

/// The same on `automatic()`.
template <element S, sparse_matrix M, vector_operand X, element R, vector_operand Y,
          vector_output W>
  requires spmvs::computable<matrix_value_t<M>, X, W> &&
           spmvs::factor<S, matrix_value_t<M>, X, W> && spmvs::factor<R, matrix_value_t<M>, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(S alpha, const M& a, const X& x, R beta, const Y& y, W&& w, grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, w, g);
}

/// y = A x, with a plan.
/// @param where  the plan's backend; stream and number of threads may differ.
/// @throws error also invalid_argument for a plan of another backend, device or matrix.
template <sparse_matrix M, vector_operand X, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y>
void spmv(const executor& where, const spmv_plan& plan, const M& a, const X& x, Y&& y,
          grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, &plan, {g, false}});
}

/// y = alpha A x + beta y, with a plan.
template <element S, sparse_matrix M, vector_operand X, element R, vector_output Y>
  requires spmvs::computable<matrix_value_t<M>, X, Y> &&
           spmvs::factor<S, matrix_value_t<M>, X, Y> && spmvs::factor<R, matrix_value_t<M>, X, Y>
void spmv(const executor& where, const spmv_plan& plan, S alpha, const M& a, const X& x, R beta,
          Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), alpha, beta, &plan, {g, false}});
}

/// w = alpha A x + beta y, with a plan.
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

// --- Compile errors ------------------------------------------------------------------------------
// @cond

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

/// A factor first, or the matrix.
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

/// A plan may precede the arguments.
template <class... Kind, class... T>
struct of_call<arguments<Kind...>, spmv_plan, T...> : of_call<arguments<Kind...>, T...> {};

}  // namespace refusals

template <class... T>
  requires refusals::refused<spmvs::form_t<T...>, T...>
auto spmv(const T&...) {
  return refusals::refuse<spmvs::form_t<T...>, T...>();
}

template <class... T>
auto spmv(...) {
  static_assert(refusals::never<T...>,
                "spmv(A, x, y), spmv(alpha, A, x, beta, y) or spmv(alpha, A, x, beta, y, w) may "
                "begin with an executor, behind which a plan may stand, and end with "
                "tally::exact; A x is no integer where y is one, and complex where y is not it "
                "can't be; w is of y's type");
  return 0.0;
}

template <class... T>
auto validate(...) {
  static_assert(refusals::never<T...>,
                "validate takes an executor or none, and a tally::csr_view (of a "
                "tally::csr_matrix its view()), or the tally::transpose or "
                "tally::conjugate_transpose of one");
}

template <class... T>
auto transpose(...) {
  static_assert(refusals::never<T...>,
                "transpose is of a tally::csr_view (of a tally::csr_matrix its view())");
}

template <class... T>
auto conjugate_transpose(...) {
  static_assert(refusals::never<T...>,
                "conjugate_transpose is of a tally::csr_view (of a tally::csr_matrix its view())");
}

// @endcond
}  // namespace tally
