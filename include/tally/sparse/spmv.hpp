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
//   - Longer rows: as `dot` (<tally/numerics/order.hpp>).
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
// few or hub columns and buffers take stream-ordered pool memory; captured, it is the graph's:
// executable graphs of one captured graph must not run at once then, and with a buffer there can be
// only one.
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

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/sparse/csr_view.hpp>

#include <complex>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace tally {

namespace backends {
struct spmv_analysis;
struct csr_transpose;
}  // namespace backends

/// Options of `spmv_plan`.
struct spmv_options {
  /// Promise that column indices don't change or move while a plan is used; values may change.
  /// Products may read data derived from them.
  bool fixed_columns = false;
  /// Promise that columns and values don't change or move while a plan is used. Products may read a
  /// plan's copy of the values, so whether they see a value changed in place is unspecified.
  bool fixed_values = false;
  /// Return of the constructor on `cuda` before the analysis is complete.
  bool queued = false;
};
/// Checks the whole matrix; reads all offsets and columns once, in place. Blocks.
/// @throws error size_mismatch or invalid_argument, naming the first fault; null_pointer,
///               misaligned, unsupported_type, wrong_memory, device_failure.
TALLY_EXPORT void validate(const executor& where, const csr_operand& matrix);

/// The same for a `csr_view` or its transpose.
template <sparse_matrix M>
void validate(const executor& where, const M& a) {
  validate(where, as_operand(a));
}

/// The same on `automatic()`.
template <sparse_matrix M>
void validate(const M& a) {
  validate(automatic(), as_operand(a));
}

namespace detail {

struct matrix_call : call<spmv_options> {
  template <class M>
  static consteval wrong of() {
    return std::is_convertible_v<M, csr_operand> ? wrong::nothing : wrong_matrix<M>;
  }
};

}  // namespace detail

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::matrix_call, T...>>
  requires detail::refused<why, T...>
void validate(T&&...) = delete;  // [where,] A

// --- Plans ---------------------------------------------------------------------------------------

/// The promise of columns alone.
inline constexpr spmv_options fixed_columns = {.fixed_columns = true};
/// The promise of columns and values.
inline constexpr spmv_options fixed_values = {.fixed_values = true};

/// Precomputed analysis of a matrix for repeated products. Changes speed, never bits.
///
/// Row offsets must not change or move while a plan is used. Column indices (of a transpose: never)
/// and values may change, unless promised otherwise by `spmv_options`. With `fixed_values` plans of
/// transposes, and any on `simd` and `openmp` of `float` or `double`, copy the values for products.
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
  /// the matrix: for a transpose two indices per nonzero, of 4 bytes, or 8 beyond 2^31 (`simd` and
  /// `openmp`: three and, from the first product on, a value), with `fixed_values` one and the
  /// value (`kokkos`: two of 8); on a device temporarily six and scratch. With a promise, on `cuda`
  /// up to six bytes per nonzero, or one per row and 67 KiB; on `simd` and `openmp` up to 4 bytes
  /// per nonzero, with `fixed_values` the value, too. See `describe()`.
  /// @throws error as `validate`, queued except for wrong offsets and columns; out_of_memory;
  ///               invalid_argument, queued while the stream is captured.
  template <sparse_matrix M>
  spmv_plan(const executor& where, const M& a, const spmv_options& options = {})
      : spmv_plan(where, as_operand(a), options) {}
  /// The same on `automatic()`'s choice.
  template <sparse_matrix M>
  explicit spmv_plan(const M& a, const spmv_options& options = {})
      : spmv_plan(automatic(), as_operand(a), options) {}
  /// The same with types erased.
  spmv_plan(const executor& where, const csr_operand& matrix, const spmv_options& options = {});
  /// Refused, by `why`.
  template <class... T, detail::wrong why = detail::wrong_call<detail::matrix_call, T...>>
    requires(detail::refused<why, T...> &&
             !(... || std::is_convertible_v<const T&, const spmv_plan&>))
  explicit spmv_plan(const T&...) = delete;  // [where,] A[, options]: grades are the products'

  /// Never `automatic()`.
  const executor& where() const noexcept { return where_; }
  /// How rows are summed and why, for people. Waits.
  /// @throws error as `wait`.
  const std::string& describe() const;
  /// Waits until a queued plan is complete.
  /// @throws error as the constructor would have.
  void wait() const;
  /// Whether the plan was queued.
  bool is_queued() const noexcept { return options_.queued; }

  /// The matrix.
  const csr_operand& matrix() const noexcept { return matrix_; }
  /// Whether columns are fixed.
  bool has_fixed_columns() const noexcept {
    return options_.fixed_columns || options_.fixed_values;
  }
  /// Whether columns and values are fixed.
  bool has_fixed_values() const noexcept { return options_.fixed_values; }
  /// The backend's data.
  const backends::spmv_analysis* analysis() const noexcept { return analysis_.get(); }
  /// The backend's transpose or null.
  const backends::csr_transpose* transpose() const noexcept { return transpose_.get(); }

 private:
  executor where_;
  csr_operand matrix_;
  spmv_options options_;
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

namespace detail {

template <>
inline constexpr bool is_operand<spmv_plan> = true;

using matrix_value_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using spmv_vector_types = type_list<float, double, std::complex<float>, std::complex<double>>;

constexpr bool gives_product(type value, type x, type y) {
  return is_in<matrix_value_types>(value) && is_in<spmv_vector_types>(x) &&
         is_in<spmv_vector_types>(y) && (is_complex(y) || !(is_complex(value) || is_complex(x)));
}

constexpr type spmv_accumulator(type value, type x) {
  return computation_type(elementwise::axpby, value, x);
}

/// C.
constexpr type spmv_combination(type accumulator, type y) {
  return computation_type(elementwise::axpby, accumulator, y);
}

template <class T, class X, class Y>
concept has_spmv = element<T> && vector_operand<X> && vector_output<Y> &&
                   gives_product(type_of<T>, type_of<element_t<X>>, type_of<element_t<Y>>);

template <class S, class T, class X, class Y>
concept has_spmv_factor =
    element<S> &&
    multiplies(type_of<S>, spmv_combination(spmv_accumulator(type_of<T>, type_of<element_t<X>>),
                                            type_of<element_t<Y>>));

/// Why op(A) of M is not multiplied by X into Y, with factors S.
template <class M, class X, class Y, class... S>
consteval wrong wrong_product() {
  constexpr wrong why =
      first_wrong<wrong_factor<S>..., wrong_matrix<M>, wrong_vector<X>, wrong_output<Y>>;
  if constexpr (why == wrong::nothing) {
    using T = matrix_value_t<M>;
    return unless(has_spmv<T, X, Y> && (... && has_spmv_factor<S, T, X, Y>),
                  wrong::the_output_is_float_double_or_complex_and_complex_where_an_input_is);
  } else {
    return why;
  }
}

struct spmv_call : call<grade, spmv_arguments> {
  template <class M, class X, class Y>
  static consteval wrong of() {
    return wrong_product<M, X, Y>();
  }
  template <class S, class M, class X, class R, class Y>
  static consteval wrong of() {
    return wrong_product<M, X, Y, S, R>();
  }
  template <class S, class M, class X, class R, class Y, class W>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_vector<Y>, wrong_product<M, X, W, S, R>()>;
    if constexpr (why == wrong::nothing) {
      return unless(std::same_as<element_t<Y>, element_t<W>>, wrong::the_vectors_are_of_one_type);
    } else {
      return why;
    }
  }
};

/// Why a call with or without a plan is not taken.
template <class Call, class... T>
inline constexpr wrong wrong_planned = wrong_call<Call, T...>;
template <class Call, class Where, class Plan, class... T>
  requires(place<Where> && std::is_convertible_v<Plan, const spmv_plan&>)
inline constexpr wrong wrong_planned<Call, Where, Plan, T...> = wrong_call<Call, Where, T...>;

template <class M, class X, class Y>
spmv_arguments product_of(const M& a, const X& x, Y& y, grade g = {}) {
  return {as_operand(a), as_operand(x), as_output(y), 1, 0, nullptr, {g, false}};
}
template <class S, class M, class X, class R, class Y>
spmv_arguments product_of(const S& alpha, const M& a, const X& x, const R& beta, Y& y,
                          grade g = {}) {
  return {as_operand(a), as_operand(x), as_output(y), alpha, beta, nullptr, {g, false}};
}
template <class S, class M, class X, class R, class Y, class W>
  requires(!std::convertible_to<W, grade>)
spmv_arguments product_of(const S& alpha, const M& a, const X& x, const R& beta, const Y& y, W& w,
                          grade g = {}) {
  spmv_arguments product = product_of(alpha, a, x, beta, w, g);
  product.added = as_operand(y);
  return product;
}

}  // namespace detail

/// y = A x.
///
/// @param a      a `tally::csr_view` of m rows and n columns, or a transpose of such.
/// @param x      n elements.
/// @param y      m writable elements; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
template <class M, class X, class Y>
  requires detail::taken<detail::spmv_call, M, X, Y>
void spmv(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  spmv(where, detail::product_of(a, x, y, g));
}

/// y = alpha A x + beta y; y is not read where beta is 0.
template <class S, class M, class X, class R, class Y>
  requires detail::taken<detail::spmv_call, S, M, X, R, Y>
void spmv(const executor& where, const S& alpha, const M& a, const X& x, const R& beta, Y&& y,
          grade g = {}) {
  spmv(where, detail::product_of(alpha, a, x, beta, y, g));
}

/// w = alpha A x + beta y, such as residuals; y is always read.
/// @param y      m elements.
/// @param w      m writable elements of y's type: y itself, or sharing no memory with y.
template <class S, class M, class X, class R, class Y, class W>
  requires detail::written<detail::spmv_call, S, M, X, R, Y, W>
void spmv(const executor& where, const S& alpha, const M& a, const X& x, const R& beta, const Y& y,
          W&& w, grade g = {}) {
  spmv(where, detail::product_of(alpha, a, x, beta, y, w, g));
}

/// Any of these with a plan.
/// @param where  the plan's backend; stream and number of threads may differ.
/// @throws error also invalid_argument for a plan of another backend, device or matrix.
template <class... T>
  requires detail::taken<detail::spmv_call, T...>
void spmv(const executor& where, const spmv_plan& plan, T&&... product) {
  spmv_arguments arguments = detail::product_of(product...);
  arguments.plan = &plan;
  spmv(where, arguments);
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::spmv_call, T...>
void spmv(T&&... arguments) {
  spmv(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_planned<detail::spmv_call, T...>>
  requires detail::refused<why, T...>
void spmv(T&&...) = delete;  // [where, [plan,]] A, x, y[, grade] or alpha, A, x, beta, y[, w]

}  // namespace tally
