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

template <class X>
constexpr bool is_dense() {
  constexpr bool dense = [] {
    if constexpr (rows_operand<X>) {
      return !blocks_view<X>;
    } else {
      return false;
    }
  }();
  static_assert(dense,
                "X and Y are matrices, tally::rows(pointer, rows, columns) or a rank-2 "
                "Kokkos::View or std::mdspan, of an element type");
  return dense;
}

/// Whether values T are multiplied by X into Y, with factors S.
template <class T, class X, class Y, class... S>
concept has_spmm =
    element<T> && rows_operand<X> && !blocks_view<X> && rows_output<Y> &&
    gives_product(type_of<T>, type_of<row_t<X>>, type_of<row_t<std::remove_cvref_t<Y>>>) &&
    (... &&
     (element<S> &&
      multiplies(type_of<S>, spmv_combination(spmv_accumulator(type_of<T>, type_of<row_t<X>>),
                                              type_of<row_t<std::remove_cvref_t<Y>>>))));

template <class M, class X, class Y, class... S>
constexpr bool is_products() {
  if constexpr ((... && is_factor<S>()) && is_matrix<M>() && is_dense<X>() &&
                is_dense<std::remove_cvref_t<Y>>()) {
    static_assert(rows_output<Y>, "Y is written: it is not const, nor are its elements");
    constexpr bool valid = !rows_output<Y> || has_spmm<matrix_value_t<M>, X, Y, S...>;
    static_assert(
        valid, "X and Y are float, double or complex, and Y is complex where A, X or a factor is");
    return rows_output<Y> && valid;
  } else {
    return false;
  }
}

template <class M, class X, class Y>
auto products_of(const M& a, const X& x, Y& y, grade g = {}) {
  if constexpr (is_products<M, X, Y&>()) {
    return spmm_arguments{as_operand(a), as_rows(x), as_output_rows(y), 1, 0, nullptr, {g, false}};
  } else {
    return spmm_arguments();
  }
}
template <class S, class M, class X, class R, class Y>
auto products_of(const S& alpha, const M& a, const X& x, const R& beta, Y& y, grade g = {}) {
  if constexpr (is_products<M, X, Y&, S, R>()) {
    return spmm_arguments{as_operand(a), as_rows(x), as_output_rows(y), alpha,
                          beta,          nullptr,    {g, false}};
  } else {
    return spmm_arguments();
  }
}

template <class... T>
inline constexpr bool is_products_call = is_call<3, grade, T...> || is_call<5, grade, T...>;

}  // namespace detail

/// Y = A X.
///
/// @param a      a `tally::csr_view` of m rows and n columns, or a transpose of such.
/// @param x      n rows of k elements: a `tally::rows`, or a rank-2 `Kokkos::View` or
///               `std::mdspan`, of any layout. (A column-major matrix is `rows(pointer, n, k, 1,
///               leading_dimension)`.)
/// @param y      m rows of k writable elements, which are distinct; shares no memory with x.
/// @param g      `tally::exact` for correctly rounded sums.
template <detail::no_plan M, class X, class Y>
auto spmm(const executor& where, const M& a, const X& x, Y&& y, grade g = {}) {
  spmm(where, detail::products_of(a, x, y, g));
}

/// Y = alpha A X + beta Y; Y is not read where beta is 0.
template <detail::no_plan S, class M, class X, class R, class Y>
auto spmm(const executor& where, const S& alpha, const M& a, const X& x, const R& beta, Y&& y,
          grade g = {}) {
  spmm(where, detail::products_of(alpha, a, x, beta, y, g));
}

/// Either with a plan, one of `spmv`.
/// @param where  the plan's backend; stream and number of threads may differ.
template <class... T>
auto spmm(const executor& where, const spmv_plan& plan, T&&... products) {
  constexpr bool valid = detail::is_products_call<T...>;
  static_assert(valid,
                "behind a plan stand A, X, Y; or alpha, A, X, beta, Y; and maybe tally::exact");
  if constexpr (valid) {
    spmm_arguments arguments = detail::products_of(products...);
    arguments.plan = &plan;
    spmm(where, arguments);
  }
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_products_call<T...>>
  requires(!detail::on_executor<3, 7, T...> && !detail::erased_call<spmm_arguments, T...>)
auto spmm(T&&... arguments) {
  static_assert(valid,
                "spmm(A, X, Y) or spmm(alpha, A, X, beta, Y) may begin with an executor, behind "
                "which a plan may stand, and end with tally::exact");
  if constexpr (valid) return spmm(automatic(), arguments...);
}

}  // namespace tally
