// Sums over ranks: dot, dotc, sum, asum, nrm2, multi_dot, multi_dotc and sums, and non-blocking
// forms with the prefix i.
//
// Promise: the bits of the function of that name in <tally/dot.hpp>, <tally/reduce.hpp> or
// <tally/multi_dot.hpp> for the whole vectors in one process, on every rank, whatever the partition
// and the executors. In the default grade the order is the layout's; with `tally::exact` it does
// not matter, and a communicator suffices.
//
// Communication: one MPI_Allreduce. Words of 8 bytes per sum in the exact grade: 138 for products
// of doubles, 24 without doubles (complex: 275, 47), 2 for integers. Default grade: at most 2
// log2(total / order::chunk) node sums and 32 bytes, after one message per cut chunk of its terms
// (at most 1023 per sum) to the rank where it begins; none if cuts are multiples of `order::chunk`
// (`layout::cut`). `nrm2` in the default grade repeats this if squares leave their type's range.
//
// Collective; operand types agree on all ranks. Vectors are this rank's parts, accessible to its
// executor. Non-blocking forms return when the local work is done and the reduction started;
// operands may change then (for `inrm2` in the default grade: after `request::wait`).
//
// Errors: as the function of that name, and size_mismatch for a vector that has not the layout's
// size. An error of any rank is thrown on all, with the lowest failing rank: "rank 2: tally::dot:
// ...". MPI's errors are device_failure with its text: for point-to-point messages on all ranks,
// for the reduction where MPI returns them. (Errors without a communicator go to the handler of
// MPI_COMM_WORLD or MPI_COMM_SELF.) If memory for messages runs out, this rank throws
// std::bad_alloc and the others block.
#pragma once

#include <tally/detail/distributed/sums.hpp>
#include <tally/dot.hpp>
#include <tally/exact.hpp>
#include <tally/executor.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/reduction.hpp>
#include <tally/mpi/request.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::mpi {

/// A `layout`, or for the exact grade an `MPI_Comm`, used for the call's collectives.
template <class C>
concept ranks = std::same_as<C, layout> || std::same_as<C, MPI_Comm>;

/// Either over a layout; an explicit `tally::exact` over a communicator.
template <ranks C>
using grade_over = std::conditional_t<std::same_as<C, layout>, grade, exact_grade>;

/// The default argument.
template <ranks C>
constexpr grade_over<C> default_grade() noexcept {
  static_assert(
      std::same_as<C, layout>,
      "sums over a communicator are in the exact grade: tally::exact is the last argument. "
      "The default grade needs the order that a tally::mpi::layout has");
  return grade_over<C>();
}

namespace calls {

template <class R, class C, class X, class Y>
auto start_dot(const C& over, const executor& where, const X& x, const Y& y, conjugate conjugated,
               grade_over<C> g, bool blocks) {
  using result = dots::accumulator<R, X, Y>;
  return start(over, where, distributed::products<result>(x, y, conjugated), g, blocks);
}

template <reduction what, class R, class C, class X>
auto start_reduction(const C& over, const executor& where, const X& x, grade_over<C> g,
                     bool blocks) {
  using result = reductions::result_t<what, R, X>;
  return start(over, where, distributed::elements<what, result>(x), g, blocks);
}

template <class R, class C>
auto start_pairs(const C& over, const executor& where, const dot_pairs& pairs, conjugate conjugated,
                 grade_over<C> g, bool blocks) {
  return start(over, where, distributed::pairs<R>(pairs, conjugated), g, blocks);
}

template <class R, class C, class L>
auto start_sums(const C& over, const executor& where, const L& fields, grade_over<C> g,
                bool blocks) {
  sums all{summand::value, conjugate::none, type_of<R>, {}};
  for (const auto& field : fields) all.fields.push_back({summand::value, as_operand(field)});
  return start(over, where, std::move(all), g, blocks);
}

using distributed::pairs_result;
using distributed::rows_result;
template <class L, class R>
using field_result =
    reductions::result_t<reduction::sum, R,
                         std::remove_cvref_t<std::ranges::range_reference_t<const L>>>;

template <class R>
R finished(std::unique_ptr<unfinished_sums> sums) {
  return results<R>::of(*sums);
}

}  // namespace calls

// --- Dot products ---------------------------------------------------------------------------------

/// r = sum_i x_i * y_i over all elements of all ranks, complex vectors unconjugated.
///
/// @param over  a layout; with `tally::exact` also a communicator.
/// @param where, x, y  this rank's executor and parts, as for `tally::dot`.
/// @param g     `tally::exact` for the correctly rounded value.
/// @tparam R    accumulator and result, as for `tally::dot`.
/// @return      r, on all ranks. Blocks.
/// @throws error see the head of this file.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto dot(const C& over, const executor& where, const X& x, const Y& y,
         grade_over<C> g = default_grade<C>()) {
  return calls::finished<dots::accumulator<R, X, Y>>(
      calls::start_dot<R>(over, where, x, y, conjugate::none, g, true));
}

/// Starts `dot`. Waits only for ranks that share a chunk with this one.
/// @return a request for r.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto idot(const C& over, const executor& where, const X& x, const Y& y,
          grade_over<C> g = default_grade<C>()) {
  return request<dots::accumulator<R, X, Y>>(
      calls::start_dot<R>(over, where, x, y, conjugate::none, g, false));
}

/// r = sum_i conj(x_i) * y_i; the same as `dot` for real x.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto dotc(const C& over, const executor& where, const X& x, const Y& y,
          grade_over<C> g = default_grade<C>()) {
  return calls::finished<dots::accumulator<R, X, Y>>(
      calls::start_dot<R>(over, where, x, y, conjugate::x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto idotc(const C& over, const executor& where, const X& x, const Y& y,
           grade_over<C> g = default_grade<C>()) {
  return request<dots::accumulator<R, X, Y>>(
      calls::start_dot<R>(over, where, x, y, conjugate::x, g, false));
}

// --- Reductions of one vector ---------------------------------------------------------------------

/// r = sum_i x_i over all elements of all ranks; parameters as for `dot`.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
auto sum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return calls::finished<reductions::result_t<reduction::sum, R, X>>(
      calls::start_reduction<reduction::sum, R>(over, where, x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
auto isum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return request<reductions::result_t<reduction::sum, R, X>>(
      calls::start_reduction<reduction::sum, R>(over, where, x, g, false));
}

/// r = sum_i |x_i|, complex elements as |re x_i| + |im x_i|. Real.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
auto asum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return calls::finished<reductions::result_t<reduction::asum, R, X>>(
      calls::start_reduction<reduction::asum, R>(over, where, x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
auto iasum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return request<reductions::result_t<reduction::asum, R, X>>(
      calls::start_reduction<reduction::asum, R>(over, where, x, g, false));
}

/// r = sqrt(sum_i |x_i|^2), the root correctly rounded. Real.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
auto nrm2(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return calls::finished<reductions::result_t<reduction::nrm2, R, X>>(
      calls::start_reduction<reduction::nrm2, R>(over, where, x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
auto inrm2(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  return request<reductions::result_t<reduction::nrm2, R, X>>(
      calls::start_reduction<reduction::nrm2, R>(over, where, x, g, false));
}

// --- Many sums in one message ---------------------------------------------------------------------

/// r_j = sum_i x_ji * y_i, j = 0 ... k-1, in one message.
///
/// @param x  this rank's part of k rows: `tally::rows`, or a rank-2 `Kokkos::View`.
/// @return   the k results, on all ranks. Blocks.
template <class R = void, ranks C, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dot(const C& over, const executor& where, const X& x, const Y& y,
               grade_over<C> g = default_grade<C>()) {
  using T = calls::rows_result<X, Y, R>;
  return calls::finished<std::vector<T>>(
      calls::start_pairs<T>(over, where, multi_dots::against_one(x, y), conjugate::none, g, true));
}

/// See `idot`.
template <class R = void, ranks C, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto imulti_dot(const C& over, const executor& where, const X& x, const Y& y,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::rows_result<X, Y, R>;
  return request<std::vector<T>>(
      calls::start_pairs<T>(over, where, multi_dots::against_one(x, y), conjugate::none, g, false));
}

/// `multi_dot` of a list of pairs, `std::array{tally::pair_of(x, y), ...}`, all of the layout's
/// size.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const C& over, const executor& where, const L& pairs,
               grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return calls::finished<std::vector<T>>(
      calls::start_pairs<T>(over, where, {{}, {}, list}, conjugate::none, g, true));
}

/// See `idot`.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto imulti_dot(const C& over, const executor& where, const L& pairs,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return request<std::vector<T>>(
      calls::start_pairs<T>(over, where, {{}, {}, list}, conjugate::none, g, false));
}

/// r_j = sum_i conj(x_ji) * y_i, j = 0 ... k-1, in one message.
template <class R = void, ranks C, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const C& over, const executor& where, const X& x, const Y& y,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::rows_result<X, Y, R>;
  return calls::finished<std::vector<T>>(
      calls::start_pairs<T>(over, where, multi_dots::against_one(x, y), conjugate::x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto imulti_dotc(const C& over, const executor& where, const X& x, const Y& y,
                 grade_over<C> g = default_grade<C>()) {
  using T = calls::rows_result<X, Y, R>;
  return request<std::vector<T>>(
      calls::start_pairs<T>(over, where, multi_dots::against_one(x, y), conjugate::x, g, false));
}

/// `multi_dotc` of a list of pairs.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const C& over, const executor& where, const L& pairs,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return calls::finished<std::vector<T>>(
      calls::start_pairs<T>(over, where, {{}, {}, list}, conjugate::x, g, true));
}

/// See `idot`.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto imulti_dotc(const C& over, const executor& where, const L& pairs,
                 grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return request<std::vector<T>>(
      calls::start_pairs<T>(over, where, {{}, {}, list}, conjugate::x, g, false));
}

/// A range of vectors of one type: `std::array{std::span(t), std::span(s)}`.
template <class L>
concept fields = std::ranges::forward_range<const L> &&
                 vector_operand<std::remove_cvref_t<std::ranges::range_reference_t<const L>>>;

/// r_j = sum of field j over all ranks, in one message:
/// `tally::mpi::sums(l, where, std::array{std::span(heat), std::span(salt)})`.
/// @return on all ranks. Blocks.
template <class R = void, ranks C, fields L>
auto sums(const C& over, const executor& where, const L& all,
          grade_over<C> g = default_grade<C>()) {
  using T = calls::field_result<L, R>;
  return calls::finished<std::vector<T>>(calls::start_sums<T>(over, where, all, g, true));
}

/// See `idot`.
template <class R = void, ranks C, fields L>
auto isums(const C& over, const executor& where, const L& all,
           grade_over<C> g = default_grade<C>()) {
  using T = calls::field_result<L, R>;
  return request<std::vector<T>>(calls::start_sums<T>(over, where, all, g, false));
}

}  // namespace tally::mpi
