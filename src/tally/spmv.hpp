// Sparse matrix times vector: y = A x, y = alpha A x + beta y, A in compressed sparse rows (CSR).
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
// Types: values of float16, bfloat16, float32, float64, complex64, complex128; x and y of float32,
// float64, complex64, complex128, y complex where the values or x are; row offsets and column
// indices of int32 or int64, chosen apart. Anything else doesn't compile, or is unsupported_type
// where types are values.
//
// With `tally::exact` as the last argument sum_i is the exact real sum, rounded once to A
// (<tally/exact.hpp>).
//
// Where they run: on the CPU backends a call returns when y is written. On CUDA it returns once the
// work is queued on the executor's stream, and may be captured in a graph.
//
// The matrix: row i has the terms row_offsets[i] ... row_offsets[i+1] - 1. row_offsets[0] is 0,
// offsets don't decrease, the last one is the number of values; columns lie in [0, columns). Within
// a row columns may be in any order and repeat. `validate` checks all of that; `spmv` what takes no
// time: sizes, and in host memory the first and the last offset. A matrix that is broken otherwise
// is the caller's to keep away from `spmv`.
//
// Errors (tally::error), before anything is written: size_mismatch; null_pointer; zero_increment;
// misaligned; unsupported_type; invalid_argument (a matrix or a plan that can't be); overlap, if y
// shares memory with x or the matrix; wrong_memory if the executor can't reach an operand;
// device_failure; out_of_memory on a device, on the host std::bad_alloc.
#pragma once

#include <tally/call_options.hpp>
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
}

// --- The matrix -----------------------------------------------------------------------------------

/// A row offset or a column index: int32 or int64.
template <class I>
concept csr_index = std::signed_integral<I> && (sizeof(I) == 4 || sizeof(I) == 8);

/// A matrix in compressed sparse rows, owned by the caller. `tally::csr_view A{rows, columns,
/// row_offsets, column_indices, values}` takes vectors, spans or arrays; of device memory,
/// `std::span(pointer, size)`.
template <element Value, csr_index Offset = std::int32_t, csr_index Column = std::int32_t>
struct csr_view {
  std::size_t rows = 0;                    ///< its height
  std::size_t columns = 0;                 ///< its width
  std::span<const Offset> row_offsets;     ///< rows + 1 of them
  std::span<const Column> column_indices;  ///< as many as values
  std::span<const Value> values;           ///< row after row
};

/// A view takes its types from the ranges that it is made of.
template <class Offsets, class Columns, class Values>
csr_view(std::size_t, std::size_t, const Offsets&, const Columns&, const Values&)
    -> csr_view<std::ranges::range_value_t<const Values>, std::ranges::range_value_t<const Offsets>,
                std::ranges::range_value_t<const Columns>>;

/// A matrix, its types erased.
struct csr_operand {
  std::size_t rows = 0;     ///< its height
  std::size_t columns = 0;  ///< its width
  operand row_offsets;      ///< int32 or int64
  operand column_indices;   ///< int32 or int64
  operand values;           ///< row after row

  /// How many values it has, zeros among them.
  std::size_t nonzeros() const noexcept { return values.size; }
};

/// A matrix with its types erased.
template <element Value, csr_index Offset, csr_index Column>
csr_operand as_operand(const csr_view<Value, Offset, Column>& a) noexcept {
  return {a.rows, a.columns, as_operand(a.row_offsets), as_operand(a.column_indices),
          as_operand(a.values)};
}

/// Checks a whole matrix: sizes, offsets that start at 0, don't decrease and end at the number of
/// values, columns in [0, columns). Reads all offsets and columns once, where they are; blocks.
/// @throws error size_mismatch or invalid_argument, with the first thing that is wrong: "tally::
///               validate: row 3 ends at 17, before it starts at 20"; null_pointer, misaligned,
///               unsupported_type, wrong_memory, device_failure.
TALLY_EXPORT void validate(const executor& where, const csr_operand& matrix);

/// The same of a view.
template <element Value, csr_index Offset, csr_index Column>
void validate(const executor& where, const csr_view<Value, Offset, Column>& a) {
  validate(where, as_operand(a));
}

/// As above, on `automatic()`.
template <element Value, csr_index Offset, csr_index Column>
void validate(const csr_view<Value, Offset, Column>& a) {
  validate(automatic(), as_operand(a));
}

// --- A plan ---------------------------------------------------------------------------------------

/// What is worth knowing of a matrix before it is multiplied many times: how its rows are shared
/// out, and on a device what is kept there for that. It changes the time, never a bit.
///
/// A plan is for the row offsets that it was made of, at the address where they were: they must
/// stay as they are. Column indices and values may change, columns within range. It may be used by
/// several threads and streams at once. Copies share what it holds; one has to outlive graphs that
/// products with it were captured in. cudaDeviceReset ends it: products with it are then refused.
/// On the CPU backends it only validates and describes. There is none for products with the
/// transpose, nor are there such products.
class TALLY_EXPORT spmv_plan {
 public:
  /// Validates the matrix, analyses it where it is; blocks. It takes as long as one or two products
  /// of a large matrix; on a device about 50 us at least, since the host waits for what is found
  /// there.
  /// @throws error as `validate`, and out_of_memory.
  template <element Value, csr_index Offset, csr_index Column>
  spmv_plan(const executor& where, const csr_view<Value, Offset, Column>& a)
      : spmv_plan(where, as_operand(a)) {}
  /// The same of a matrix whose types are erased.
  spmv_plan(const executor& where, const csr_operand& matrix);

  /// As above, on what `automatic()` chooses for this matrix.
  template <element Value, csr_index Offset, csr_index Column>
  explicit spmv_plan(const csr_view<Value, Offset, Column>& a) : spmv_plan(automatic(), a) {}

  /// The executor that it was made on, never `automatic()`.
  const executor& where() const noexcept { return where_; }
  /// How rows are summed and why: "equal shares of rows and terms for 8 threads; ...".
  const std::string& describe() const noexcept;

  /// The pattern that it was made of.
  const csr_operand& matrix() const noexcept { return matrix_; }
  /// What the backend keeps of it.
  const backends::spmv_analysis* analysis() const noexcept { return analysis_.get(); }

 private:
  executor where_;
  csr_operand matrix_;
  std::shared_ptr<const backends::spmv_analysis> analysis_;
};

// --- The product ----------------------------------------------------------------------------------

/// What one product is asked for, its types erased. Element types are checked at run time.
struct spmv_arguments {
  csr_operand a;                           ///< the matrix
  operand x;                               ///< as many elements as it has columns
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
/// @param a      a matrix of m rows and n columns: `tally::csr_view`.
/// @param x      a vector of n elements: a contiguous range, a `tally::strided`, or a rank-1
///               `Kokkos::View`.
/// @param y      one of m elements that can be written; it shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error see the head of this file.
template <element T, csr_index O, csr_index C, vector_operand X, vector_output Y>
  requires spmvs::computable<T, X, Y>
void spmv(const executor& where, const csr_view<T, O, C>& a, const X& x, Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, nullptr, {g, false}});
}

/// As above, on `automatic()`.
template <element T, csr_index O, csr_index C, vector_operand X, vector_output Y>
  requires spmvs::computable<T, X, Y>
void spmv(const csr_view<T, O, C>& a, const X& x, Y&& y, grade g = {}) {
  spmv(automatic(), a, x, y, g);
}

/// y = alpha A x + beta y; with beta 0, y is not read.
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_output Y>
  requires spmvs::computable<T, X, Y> && spmvs::factor<S, T, X, Y> && spmvs::factor<R, T, X, Y>
void spmv(const executor& where, S alpha, const csr_view<T, O, C>& a, const X& x, R beta, Y&& y,
          grade g = {}) {
  spmv(where, spmv_arguments{
                  as_operand(a), as_operand(x), as_output(y), alpha, beta, nullptr, {g, false}});
}

/// As above, on `automatic()`.
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_output Y>
  requires spmvs::computable<T, X, Y> && spmvs::factor<S, T, X, Y> && spmvs::factor<R, T, X, Y>
void spmv(S alpha, const csr_view<T, O, C>& a, const X& x, R beta, Y&& y, grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, g);
}

/// w = alpha A x + beta y: residuals, among others. y is an input, and is read whatever beta is.
/// @param y  a vector of m elements.
/// @param w  one of as many elements of y's type, which is written: y itself, or a vector that
/// shares
///           no memory with y.
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_operand Y, vector_output W>
  requires spmvs::computable<T, X, W> && spmvs::factor<S, T, X, W> && spmvs::factor<R, T, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, S alpha, const csr_view<T, O, C>& a, const X& x, R beta,
          const Y& y, W&& w, grade g = {}) {
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
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_operand Y, vector_output W>
  requires spmvs::computable<T, X, W> && spmvs::factor<S, T, X, W> && spmvs::factor<R, T, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(S alpha, const csr_view<T, O, C>& a, const X& x, R beta, const Y& y, W&& w,
          grade g = {}) {
  spmv(automatic(), alpha, a, x, beta, y, w, g);
}

/// y = A x, with a plan of the matrix.
/// @param where  the backend that the plan was made on; another stream or number of threads is
/// fine.
/// @throws error also invalid_argument if the plan is of another backend, device or matrix.
template <element T, csr_index O, csr_index C, vector_operand X, vector_output Y>
  requires spmvs::computable<T, X, Y>
void spmv(const executor& where, const spmv_plan& plan, const csr_view<T, O, C>& a, const X& x,
          Y&& y, grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a), as_operand(x), as_output(y), 1, 0, &plan, {g, false}});
}

/// y = alpha A x + beta y, with a plan of the matrix.
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_output Y>
  requires spmvs::computable<T, X, Y> && spmvs::factor<S, T, X, Y> && spmvs::factor<R, T, X, Y>
void spmv(const executor& where, const spmv_plan& plan, S alpha, const csr_view<T, O, C>& a,
          const X& x, R beta, Y&& y, grade g = {}) {
  spmv(where,
       spmv_arguments{as_operand(a), as_operand(x), as_output(y), alpha, beta, &plan, {g, false}});
}

/// w = alpha A x + beta y, with a plan of the matrix.
template <element S, element T, csr_index O, csr_index C, vector_operand X, element R,
          vector_operand Y, vector_output W>
  requires spmvs::computable<T, X, W> && spmvs::factor<S, T, X, W> && spmvs::factor<R, T, X, W> &&
           std::is_same_v<element_t<Y>, element_t<std::remove_cvref_t<W>>>
void spmv(const executor& where, const spmv_plan& plan, S alpha, const csr_view<T, O, C>& a,
          const X& x, R beta, const Y& y, W&& w, grade g = {}) {
  spmv(where, spmv_arguments{as_operand(a),
                             as_operand(x),
                             as_output(w),
                             alpha,
                             beta,
                             &plan,
                             {g, false},
                             as_operand(y)});
}

}  // namespace tally
