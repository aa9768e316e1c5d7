// Dense matrix times vector, with the terms of each sum over ranks: A has its columns on them, or,
// where it is transposed, its rows, and x its elements. y, which each rank has whole, is
// replicated, as the coefficients of a Krylov basis are.
//
// Promise: the bits of `tally::gemv` (<tally/operations/gemv.hpp>) with the whole A and x in one
// process, on every rank. Other products, whose sums lie on one rank each, need no function of
// their own: with x replicated, `tally::gemv` of a rank's rows gives this rank's part of y.
//
// Communication, rules and errors: as `multi_dot` of <tally/mpi/sums.hpp>, which blocks, or
// <tally/nccl/sums.hpp>, in the form that doesn't. After an error y is undefined.
#pragma once

#include <tally/distributed/sums.hpp>
#include <tally/operations/gemv.hpp>

#include <cstddef>
#include <string>

namespace tally::detail {

/// The products of the rows of op(A) and x.
inline field_sums products_of(const gemv_arguments& a, type sum) {
  const bool conjugated = a.operation == matrix_operation::conjugate_transpose;
  const operand_rows rows = a.operation == matrix_operation::none ? a.a : transposed(a.a);
  field_sums all{summand::product, conjugated ? conjugate::x : conjugate::none, sum, {}};
  for (std::size_t i = 0; i < rows.rows; ++i) all.fields.push_back({all.what, rows[i], a.x});
  return all;
}

/// Updates y by those sums.
/// @throws error size_mismatch, beginning with `caller`.
inline void update(const char* caller, const executor& where, const gemv_arguments& a,
                   const operand& sums) {
  if (a.y.size != sums.size) {
    throw error(errc::size_mismatch, std::string(caller) + "::gemv: y has " +
                                         std::to_string(a.y.size) + " elements, op(A) " +
                                         std::to_string(sums.size) + " rows");
  }
  if (sums.size == 0) return;
  transform(where, {elementwise::axpby, a.alpha, a.beta, sums, a.y, a.y});
}

template <class M, class X>
using gemv_sum = dot_result_t<dense_t<M>, element_t<X>>;

}  // namespace tally::detail

namespace tally::distributed {

/// y = op(A) x with terms over ranks.
///
/// @param over   a layout of the terms; with `tally::exact` also a communicator.
/// @param where  this rank's executor.
/// @param a      this rank's columns of A, or `tally::transpose` of its rows, as for `tally::gemv`.
/// @param x      this rank's elements.
/// @param y      of the height of op(A), equal on all ranks if it is read.
/// @param g      `tally::exact` for correctly rounded sums.
template <ranks C, class M, class X, class Y>
  requires detail::taken<detail::gemv_call, M, X, Y>
void gemv(const C& over, const executor& where, const M& a, const X& x, Y&& y,
          grade_over<C> g = {}) {
  detail::transport<C>::template multiply<detail::gemv_sum<M, X>>(over, where,
                                                                  detail::gemv_of(a, x, y, {}), g);
}

/// y = alpha op(A) x + beta y; y is not read where beta is 0.
template <ranks C, class S, class M, class X, class R, class Y>
  requires detail::taken<detail::gemv_call, S, M, X, R, Y>
void gemv(const C& over, const executor& where, const S& alpha, const M& a, const X& x,
          const R& beta, Y&& y, grade_over<C> g = {}) {
  gemv_arguments all = detail::gemv_of(a, x, y, {});
  all.alpha = alpha;
  all.beta = beta;
  detail::transport<C>::template multiply<detail::gemv_sum<M, X>>(over, where, all, g);
}

}  // namespace tally::distributed
