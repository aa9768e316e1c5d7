// Dense matrix times vector, with the terms of each sum over ranks: A has its columns, or, where it
// is transposed, its rows on them, x its elements. y, which each rank has whole, is replicated, as
// the coefficients of a Krylov basis are.
//
// Promise: the bits of `tally::gemv` (<tally/operations/gemv.hpp>) with the whole A and x in one
// process, on every rank. Other products, whose sums lie on one rank each, need no function of
// their own: with x replicated, `tally::gemv` of a rank's rows gives this rank's part of y.
//
// Communication, rules and errors: as `multi_dot` (<tally/mpi/sums.hpp>). An error is thrown on all
// ranks; y is then undefined.
#pragma once

#include <tally/distributed/host_copies.hpp>
#include <tally/mpi/sums.hpp>
#include <tally/operations/gemv.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tally::mpi {

namespace detail {

/// The products of the rows of op(A) and x.
inline field_sums products_of(const gemv_arguments& a, type sum) {
  const bool conjugated = a.operation == matrix_operation::conjugate_transpose;
  const bool is_transposed = a.operation != matrix_operation::none;
  const operand_rows rows = is_transposed ? transposed(a.a) : a.a;
  field_sums all{summand::product, conjugated ? conjugate::x : conjugate::none, sum, {}};
  for (std::size_t i = 0; i < rows.rows; ++i) all.fields.push_back({all.what, rows[i], a.x});
  return all;
}

inline void check_height(const gemv_arguments& a, std::size_t rows) {
  if (a.y.size == rows) return;
  throw error(errc::size_mismatch, "tally::mpi::gemv: y has " + std::to_string(a.y.size) +
                                       " elements, op(A) " + std::to_string(rows) + " rows");
}

/// Replicated y, updated by the sums of all ranks.
template <element Sum, class C>
void gemv_over(const C& over, const executor& anywhere, const gemv_arguments& a, grade_over<C> g) {
  const executor where = anywhere.name() == "automatic" ? choose(a.x, operand(a.y)) : anywhere;
  field_sums all = products_of(a, type_of<Sum>);
  const std::size_t rows = all.fields.size();
  std::vector<Sum> sums(rows);
  transport::sum(over, where, std::move(all), g, sums.data(), rows * sizeof(Sum));
  std::optional<failure> failed;
  attempt(failed, [&] {
    check_height(a, rows);
    if (rows == 0) return;
    const readable_elements r(where, sums);
    transform(where, {elementwise::axpby, a.alpha, a.beta, r.get(), a.y, a.y});
  });
  agree(communicator_of(over), failed);
}

}  // namespace detail

/// y = op(A) x with terms over ranks.
///
/// @param over   a layout of the terms; with `tally::exact` also a communicator.
/// @param where  this rank's executor.
/// @param a      this rank's columns of A, or `tally::transpose` of its rows, as for `tally::gemv`.
/// @param x      this rank's elements.
/// @param y      of the height of op(A), equal on all ranks if it is read.
/// @param g      `tally::exact` for correctly rounded sums.
template <ranks C, class M, class X, class Y>
void gemv(const C& over, const executor& where, const M& a, const X& x, Y&& y,
          grade_over<C> g = {}) {
  if constexpr (tally::detail::is_gemv<M, X, Y>()) {
    using Sum = dot_result_t<tally::detail::dense_t<M>, element_t<X>>;
    detail::gemv_over<Sum>(over, where, tally::detail::gemv_of(a, x, y, {}), g);
  }
}

/// y = alpha op(A) x + beta y; y is not read where beta is 0.
template <ranks C, class S, class M, class X, class R, class Y>
void gemv(const C& over, const executor& where, const S& alpha, const M& a, const X& x,
          const R& beta, Y&& y, grade_over<C> g = {}) {
  if constexpr (tally::detail::is_gemv<M, X, Y, S, R>()) {
    using Sum = dot_result_t<tally::detail::dense_t<M>, element_t<X>>;
    gemv_arguments all = tally::detail::gemv_of(a, x, y, {});
    all.alpha = alpha;
    all.beta = beta;
    detail::gemv_over<Sum>(over, where, all, g);
  }
}

}  // namespace tally::mpi
