// Sparse matrix times several vectors: Y = op(A) X, Y = alpha op(A) X + beta Y, for the k columns
// of X and Y.
//
// Promise: each column of Y has the bits of `spmv` (<tally/sparse/spmv.hpp>) with this column of X
// alone, in either grade and with any plan. So neither k nor the layouts enter.
//
// X and Y are dense, of any layout. Row-major ones, whose rows are adjacent elements, are the fast
// ones: a term then takes one load for all columns, and the matrix is read once for up to 32.
//
// Products of spmv, one after another, are: complex and exact products, those of fewer than 4
// columns, of values and an X of different types (`cuda` has float values and a double X), of
// permuted values, those on `serial` and `kokkos`; on `simd` and `openmp` of another layout of X;
// on `cuda` of matrices of four arrays, and where they take as long (bench/results/tuning/spmm.md).
// Otherwise `cuda` copies an X of another layout to memory taken for the call.
//
// Blocking, captures and errors: as `spmv`.
#pragma once

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/multi_dot.hpp>
#include <tally/sparse/csr_view.hpp>
#include <tally/sparse/spmv.hpp>

#include <type_traits>

namespace tally {

/// Arguments with types erased, checked at run time. Row i of X and Y is a row of a matrix of k
/// columns.
struct spmm_arguments {
  csr_operand a;                           ///< A, and op
  operand_rows x;                          ///< one block; as many rows as op(A) has columns
  output_rows y;                           ///< as many rows as op(A), of as many columns as x
  scalar alpha = 1;                        ///< factor of A X
  scalar beta = 0;                         ///< factor of Y
  const spmv_plan* plan = nullptr;         ///< of this matrix and backend, or null
  call_options options = {.wait = false};  ///< the grade; products don't wait
};

/// The product with types erased.
TALLY_EXPORT void spmm(const executor& where, const spmm_arguments& arguments);

namespace detail {

/// Whether values T are multiplied by X into Y, with factors S.
template <class T, class X, class Y, class... S>
concept has_spmm =
    element<T> && dense_rows<X> && rows_output<Y> &&
    gives_product(type_of<T>, type_of<row_t<X>>, type_of<row_t<Y>>) &&
    (... &&
     (element<S> &&
      multiplies(type_of<S>, spmv_combination(spmv_accumulator(type_of<T>, type_of<row_t<X>>),
                                              type_of<row_t<Y>>))));

struct spmm_call : call<grade, spmm_arguments> {
  template <class M, class X, class Y>
  static consteval wrong of() {
    return product<M, std::remove_cv_t<X>, Y>();
  }
  template <class S, class M, class X, class R, class Y>
  static consteval wrong of() {
    return product<M, std::remove_cv_t<X>, Y, S, R>();
  }

 private:
  template <class M, class X, class Y, class... S>
  static consteval wrong product() {
    constexpr bool dense = dense_rows<X> && dense_rows<std::remove_cv_t<Y>>;
    constexpr wrong why =
        first_wrong<wrong_factor<S>..., wrong_matrix<M>, unless(dense, wrong_rows<void>),
                    unless(rows_output<Y>, wrong::an_operand_that_is_written_is_not_const)>;
    if constexpr (why == wrong::nothing) {
      return unless(has_spmm<matrix_value_t<M>, X, Y, S...>,
                    wrong::the_output_is_float_double_or_complex_and_complex_where_an_input_is);
    } else {
      return why;
    }
  }
};

template <class M, class X, class Y>
spmm_arguments products_of(const M& a, const X& x, Y& y, grade g = {}) {
  return {as_operand(a), as_rows(x), as_output_rows(y), 1, 0, nullptr, {g, false}};
}
template <class S, class M, class X, class R, class Y>
spmm_arguments products_of(const S& alpha, const M& a, const X& x, const R& beta, Y& y,
                           grade g = {}) {
  return {as_operand(a), as_rows(x), as_output_rows(y), alpha, beta, nullptr, {g, false}};
}

}  // namespace detail

/// Y = A X.
///
/// @param a      a `tally::csr_view` of m rows and n columns, or a transpose of such.
/// @param x      n rows of k elements: a `tally::rows`, or a rank-2 `Kokkos::View` or
///               `std::mdspan`, of any layout. (A column-major matrix is `rows(pointer, n, k, 1,
///               leading_dimension)`.)
/// @param y      m rows of k writable elements, which are distinct; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
template <class M, class X, class Y>
  requires detail::taken<detail::spmm_call, M, X, Y>
void spmm(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  spmm(where, detail::products_of(a, x, y, g));
}

/// Y = alpha A X + beta Y; Y is not read where beta is 0.
template <class S, class M, class X, class R, class Y>
  requires detail::taken<detail::spmm_call, S, M, X, R, Y>
void spmm(const executor& where, const S& alpha, const M& a, const X& x, const R& beta, Y&& y,
          grade g = {}) {
  spmm(where, detail::products_of(alpha, a, x, beta, y, g));
}

/// Either with a plan, one of `spmv`.
/// @param where  the plan's backend; stream and number of threads may differ.
template <class... T>
  requires detail::taken<detail::spmm_call, T...>
void spmm(const executor& where, const spmv_plan& plan, T&&... products) {
  spmm_arguments arguments = detail::products_of(products...);
  arguments.plan = &plan;
  spmm(where, arguments);
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::spmm_call, T...>
void spmm(T&&... arguments) {
  spmm(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_planned<detail::spmm_call, T...>>
  requires detail::refused<why, T...>
void spmm(T&&...) = delete;  // [where, [plan,]] A, X, Y[, grade] or alpha, A, X, beta, Y[, grade]

}  // namespace tally
