// Dense matrix times vector: y = op(A) x, y = alpha op(A) x + beta y, with op(A) = A, its transpose
// or conjugate transpose, of any layout.
//
// Promise: with r_i = sum_j op(A)_ij*x_j, which has the bits of `dot` (<tally/operations/dot.hpp>)
// of row i of op(A), with conjugated elements for a conjugate transpose, and x, and with C the
// wider of the types of r and y (float64 if one is, complex if one is),
//
//     y_i = alpha*r_i               if beta is 0: y is not read
//     y_i = alpha*r_i + beta*y_i  otherwise
//
// in C, each operation rounded, then rounded to y's type, as `spmv` (<tally/sparse/spmv.hpp>)
// does. So neither the layout nor the shape of A enters.
#pragma once

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/operations/multi_dot.hpp>
#include <tally/sparse/spmv.hpp>

#include <type_traits>

namespace tally {

/// Arguments with types erased, checked at run time.
struct gemv_arguments {
  operand_rows a;                                       ///< rows of A, one block
  matrix_operation operation = matrix_operation::none;  ///< op
  operand x;                                            ///< of the width of op(A)
  output_operand y;                                     ///< of the height of op(A)
  scalar alpha = 1;                                     ///< factor of op(A) x
  scalar beta = 0;                                      ///< factor of y
  call_options options = {.wait = false};               ///< the grade; products don't wait
};

/// The product with types erased.
TALLY_EXPORT void gemv(const executor& where, const gemv_arguments& arguments);

/// A transpose of a dense matrix; refers to its memory. Made by `tally::transpose`.
template <element T>
struct transposed_rows {
  operand_rows rows;                                         ///< rows of A
  matrix_operation operation = matrix_operation::transpose;  ///< transpose or conjugate transpose
};

namespace detail {

template <class M>
struct dense_element {};
template <dense_rows M>
struct dense_element<M> {
  using type = row_t<M>;
};
template <class T>
struct dense_element<transposed_rows<T>> {
  using type = T;
};
template <class M>
using dense_t = typename dense_element<M>::type;

constexpr bool gives_gemv(type sum, type y) {
  return sum != type::int64 && is_in<spmv_vector_types>(y) && (is_complex(y) || !is_complex(sum));
}

struct gemv_call : call<grade, gemv_arguments> {
  template <class M, class X, class Y>
  static consteval wrong of() {
    return product<std::remove_cv_t<M>, X, Y>();
  }
  template <class S, class M, class X, class R, class Y>
  static consteval wrong of() {
    return product<std::remove_cv_t<M>, X, Y, S, R>();
  }

 private:
  template <class M, class X, class Y, class... S>
  static consteval wrong product() {
    constexpr bool dense = requires { typename dense_element<M>::type; };
    constexpr wrong why = first_wrong<unless(dense, wrong_rows<void>), wrong_factor<S>...,
                                      wrong_vector<X>, wrong_output<Y>>;
    if constexpr (why == wrong::nothing) {
      constexpr type sum = type_of<dot_result_t<dense_t<M>, element_t<X>>>;
      constexpr type y = type_of<element_t<Y>>;
      return unless(gives_gemv(sum, y) && (... && multiplies(type_of<S>, spmv_combination(sum, y))),
                    wrong::the_output_is_float_double_or_complex_and_complex_where_an_input_is);
    } else {
      return why;
    }
  }
};

/// Columns as rows.
constexpr operand_rows transposed(const operand_rows& a) noexcept {
  operand_rows t{a.first, a.first.size, a.first.increment};
  t.first.size = a.rows;
  t.first.increment = a.leading_dimension;
  return t;
}

template <class M, class X, class Y>
gemv_arguments gemv_of(const M& a, const X& x, Y& y, grade g) {
  gemv_arguments all;
  if constexpr (dense_rows<M>) {
    all.a = as_rows(a);
  } else {
    all.a = a.rows;
    all.operation = a.operation;
  }
  all.x = as_operand(x);
  all.y = as_output(y);
  all.options.grade = g;
  return all;
}

}  // namespace detail

/// The transpose of a dense matrix.
template <detail::dense_rows M>
auto transpose(const M& a) {
  return transposed_rows<detail::row_t<M>>{detail::as_rows(a)};
}

/// The transpose with conjugated elements.
template <detail::dense_rows M>
auto conjugate_transpose(const M& a) {
  return transposed_rows<detail::row_t<M>>{detail::as_rows(a),
                                           matrix_operation::conjugate_transpose};
}

/// y = op(A) x. CPU backends return when y is written; CUDA returns once the work is queued, and
/// may be captured in a graph.
///
/// @param a      m rows of n elements, a `tally::rows` or a rank-2 `Kokkos::View` or `std::mdspan`
///               of any layout, or a `tally::transpose` of such, of a nonzero leading dimension.
///               (A column-major matrix is `rows(pointer, m, n, 1, leading_dimension)`.)
/// @param x      n elements, of any type; A or x is of a floating-point or complex type.
/// @param y      m writable elements, float, double or complex, and complex where A or x is; shares
///               no memory with A or x.
/// @param g      `tally::exact` for correctly rounded sums.
/// @throws error size_mismatch, null_pointer, zero_increment, misaligned, unsupported_type,
///               invalid_argument, overlap, wrong_memory, device_failure, out_of_memory; nothing is
///               written then.
template <class M, class X, class Y>
  requires detail::taken<detail::gemv_call, M, X, Y>
void gemv(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  gemv(where, detail::gemv_of(a, x, y, g));
}

/// y = alpha op(A) x + beta y; y is not read where beta is 0.
template <class S, class M, class X, class R, class Y>
  requires detail::taken<detail::gemv_call, S, M, X, R, Y>
void gemv(const executor& where, const S& alpha, const M& a, const X& x, const R& beta, Y&& y,
          grade g = {}) {
  gemv_arguments all = detail::gemv_of(a, x, y, g);
  all.alpha = alpha;
  all.beta = beta;
  gemv(where, all);
}

/// Either form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::gemv_call, T...>
void gemv(T&&... arguments) {
  gemv(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::gemv_call, T...>>
  requires detail::refused<why, T...>
void gemv(T&&...) = delete;  // [where,] A, x, y[, grade]; [where,] alpha, A, x, beta, y[, grade]

}  // namespace tally
