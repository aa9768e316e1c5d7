// Sums over ranks, and with the prefix i non-blocking forms. Promise: <tally/distributed/sums.hpp>.
//
// Communication: one MPI_Allreduce. Words of 8 bytes per sum in the exact grade: 138 for products
// of doubles, 24 without doubles (complex: 275, 47), 2 for integers. Default grade: at most 2
// log2(total / order::chunk) node sums and 32 bytes, after one message per cut chunk of its terms
// (at most 1023 per sum) to the rank where it begins; none if cuts are multiples of `order::chunk`
// (`layout::cut`). A node sum of `nrm2` is two numbers, of complex products four.
//
// Collective; operand types agree on all ranks. Vectors are this rank's parts, accessible to its
// executor. Non-blocking forms return when the local work is done and the reduction started;
// operands may change then.
//
// Errors: as the function of that name, and size_mismatch for a vector that has not the layout's
// size. An error of any rank is thrown on all, with the lowest failing rank: "rank 2: tally::dot:
// ...". MPI's errors are device_failure with its text: for point-to-point messages on all ranks,
// for the reduction where MPI returns them. (Errors without a communicator go to the handler of
// MPI_COMM_WORLD or MPI_COMM_SELF.) If memory for messages runs out, this rank throws
// std::bad_alloc and the others block.
#pragma once

#include <tally/distributed/sums.hpp>
#include <tally/mpi/reduction.hpp>

#include <utility>
#include <vector>

namespace tally::mpi {

using distributed::asum;
using distributed::dot;
using distributed::multi_dot;
using distributed::nrm2;
using distributed::sum;
using distributed::sum_of_squares;
using distributed::sums;
using distributed::weighted_nrm2;
using distributed::weighted_sum_of_squares;
using distributed::wrms_norm;
using distributed::wrms_norm_mask;

using distributed::dot_options_over;
using distributed::fields;
using distributed::grade_over;
using distributed::ranks;

namespace detail {

template <class R, class C>
request<R> started(const C& over, const executor& where, typed_sums<R> all, grade_over<C> g) {
  return request<R>(start(over, where, std::move(all), g, false));
}

}  // namespace detail

/// Starts `dot`. Waits only for ranks that share a chunk with this one.
/// @return a request for the result.
template <class R = void, ranks C, vector_operand X, detail::dot_factor<R, X> Y>
auto idot(const C& over, const executor& where, const X& x, const Y& y,
          dot_options_over<C> how = {}) {
  return detail::started(over, where, detail::products<R>(x, y, how.conjugated), how.grade);
}

/// See `idot`.
template <class R = void, ranks C, detail::summed<R, reduction::sum> X>
auto isum(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::started(over, where, detail::elements<reduction::sum, R>(x), g);
}

/// See `idot`.
template <class R = void, ranks C, detail::summed<R, reduction::asum> X>
auto iasum(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::started(over, where, detail::elements<reduction::asum, R>(x), g);
}

/// See `idot`.
template <class R = void, ranks C, detail::summed<R, reduction::nrm2> X>
auto inrm2(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::started(over, where, detail::elements<reduction::nrm2, R>(x), g);
}

/// See `idot`.
template <class R = void, ranks C, rows_operand X, detail::row_factor<R, X> Y>
auto imulti_dot(const C& over, const executor& where, const X& x, const Y& y,
                dot_options_over<C> how = {}) {
  return detail::started(over, where, detail::pairs<R>(x, y, how.conjugated), how.grade);
}

/// See `idot`.
template <class R = void, ranks C, detail::pair_list<R> L>
auto imulti_dot(const C& over, const executor& where, const L& list, dot_options_over<C> how = {}) {
  return detail::started(over, where, detail::pairs<R>(list, how.conjugated), how.grade);
}

/// See `idot`.
template <class R = void, ranks C, fields L>
auto isums(const C& over, const executor& where, const L& vectors, grade_over<C> g = {}) {
  return detail::started(over, where, detail::each<R>(vectors), g);
}

/// See `idot`.
template <class R = void, ranks C, detail::summed_rows<R> X>
auto isums(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::started(over, where, detail::each_row<R>(x), g);
}

}  // namespace tally::mpi
