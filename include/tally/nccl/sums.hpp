// Dot products, sums and norms over devices: the bits of one process, on every rank.
//
// Promise: the bits of the function of that name for the whole vectors on any executor of one
// process, whatever the partition, and whether NCCL or peer stores carry the messages. In the
// default grade the order is the layout's; with `tally::exact` it does not matter, and a
// communicator suffices.
//
// Each function has two forms. One returns the result on all ranks and blocks. The other writes it
// to device, managed or pinned memory and does not block: the work is queued on the executor's
// stream, and may be captured.
//
// Cost beyond the local part: one launch if devices reach each other's memory, else one NCCL
// operation and one launch: in the exact grade an all-reduce of 137 words of 8 bytes per sum of
// products of doubles, 23 without doubles, doubled for complex sums; in the default grade an
// all-gather of at most 2 log2(total / order::chunk) nodes, after each cut chunk's elements went to
// the rank where it begins; none if cuts are multiples of `order::chunk` (`layout::cut`).
//
// Collective: the same calls in the same order on all ranks; operand types agree. Vectors are this
// rank's parts, on its device. One rank per thread: kernels wait for other ranks', so a thread that
// queues for two devices may deadlock.
//
// Errors: as the function of that name, and size_mismatch for a vector that has not the layout's
// size. Other ranks are not notified and block on the device: within NCCL until ncclCommAbort,
// within peer buffers until the process ends.
#pragma once

#include <tally/detail/distributed/sums.hpp>
#include <tally/dot.hpp>
#include <tally/exact.hpp>
#include <tally/executor.hpp>
#include <tally/multi_dot.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/nccl/reduction.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::nccl {

/// A `layout`, or for the exact grade a `communicator`.
template <class C>
concept ranks = std::same_as<C, layout> || std::same_as<C, communicator>;

/// Either over a layout; an explicit `tally::exact` over a communicator.
template <ranks C>
using grade_over = std::conditional_t<std::same_as<C, layout>, grade, exact_grade>;

/// The default argument.
template <ranks C>
constexpr grade_over<C> default_grade() noexcept {
  static_assert(
      std::same_as<C, layout>,
      "sums over a communicator are in the exact grade: tally::exact is the last argument. "
      "The default grade needs the order that a tally::nccl::layout has");
  return grade_over<C>();
}

namespace calls {

inline const communicator& communicator_of(const communicator& over) { return over; }
inline const communicator& communicator_of(const layout& l) { return l.over(); }

template <class R, class C>
R returned(const C& over, const executor& where, const sums& all, grade_over<C> g) {
  R result;
  communicator_of(over).wait_for(where, &result, sizeof result,
                                 [&](void* to) { queue(over, where, all, g, to); });
  return result;
}
template <class R, class C>
std::vector<R> all_returned(const C& over, const executor& where, const sums& all,
                            grade_over<C> g) {
  std::vector<R> results(all.fields.size());
  communicator_of(over).wait_for(where, results.data(), results.size() * sizeof(R),
                                 [&](void* to) { queue(over, where, all, g, to); });
  return results;
}
template <class C, class P>
void written(const char* function, const C& over, const executor& where, const sums& all, P& to,
             grade_over<C> g) {
  queue(over, where, all, g, results::first(function, to, all.fields.size()));
}

using distributed::elements;
using distributed::pairs;
using distributed::pairs_result;
using distributed::products;
using distributed::rows_result;

}  // namespace calls

// --- Dot products ---------------------------------------------------------------------------------

/// r = sum_i x_i * y_i over all elements of all ranks, complex vectors unconjugated.
///
/// @param over  a layout; with `tally::exact` also a communicator.
/// @param where this rank's executor: `cuda` on its device, with a stream.
/// @param x, y  this rank's parts, as for `tally::dot`.
/// @param g     `tally::exact` for the correctly rounded value.
/// @tparam R    accumulator and result, as for `tally::dot`.
/// @return      r, on all ranks. Blocks.
/// @throws error see the head of this file.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto dot(const C& over, const executor& where, const X& x, const Y& y,
         grade_over<C> g = default_grade<C>()) {
  using T = dots::accumulator<R, X, Y>;
  return calls::returned<T>(over, where, calls::products<T>(x, y, conjugate::none), g);
}

/// Non-blocking form: result = r.
/// @param result pointer, or memory for one number (`result_place`), of the accumulator's type.
template <ranks C, vector_operand X, vector_operand Y, result_place P>
  requires dots::computable<results::element_t<P>, X, Y>
void dot(const C& over, const executor& where, const X& x, const Y& y, P&& result,
         grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::dot", over, where, calls::products<T>(x, y, conjugate::none), result,
                 g);
}

/// r = sum_i conj(x_i) * y_i; the same as `dot` for real x.
template <class R = void, ranks C, vector_operand X, vector_operand Y>
  requires dots::computable<R, X, Y>
auto dotc(const C& over, const executor& where, const X& x, const Y& y,
          grade_over<C> g = default_grade<C>()) {
  using T = dots::accumulator<R, X, Y>;
  return calls::returned<T>(over, where, calls::products<T>(x, y, conjugate::x), g);
}

/// Non-blocking form.
template <ranks C, vector_operand X, vector_operand Y, result_place P>
  requires dots::computable<results::element_t<P>, X, Y>
void dotc(const C& over, const executor& where, const X& x, const Y& y, P&& result,
          grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::dotc", over, where, calls::products<T>(x, y, conjugate::x), result,
                 g);
}

// --- Reductions of one vector ---------------------------------------------------------------------

/// r = sum_i x_i over all elements of all ranks; parameters as for `dot`.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::sum, R, X>
auto sum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  using T = reductions::result_t<reduction::sum, R, X>;
  return calls::returned<T>(over, where, calls::elements<reduction::sum, T>(x), g);
}

/// Non-blocking form.
template <ranks C, vector_operand X, result_place P>
  requires reductions::computable<reduction::sum, results::element_t<P>, X>
void sum(const C& over, const executor& where, const X& x, P&& result,
         grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::sum", over, where, calls::elements<reduction::sum, T>(x), result, g);
}

/// r = sum_i |x_i|, complex elements as |re x_i| + |im x_i|. Real.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::asum, R, X>
auto asum(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  using T = reductions::result_t<reduction::asum, R, X>;
  return calls::returned<T>(over, where, calls::elements<reduction::asum, T>(x), g);
}

/// Non-blocking form.
template <ranks C, vector_operand X, result_place P>
  requires reductions::computable<reduction::asum, results::element_t<P>, X>
void asum(const C& over, const executor& where, const X& x, P&& result,
          grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::asum", over, where, calls::elements<reduction::asum, T>(x), result,
                 g);
}

/// r = sqrt(sum_i |x_i|^2), the root correctly rounded. Real. Never leaves the range on the way.
template <class R = void, ranks C, vector_operand X>
  requires reductions::computable<reduction::nrm2, R, X>
auto nrm2(const C& over, const executor& where, const X& x, grade_over<C> g = default_grade<C>()) {
  using T = reductions::result_t<reduction::nrm2, R, X>;
  return calls::returned<T>(over, where, calls::elements<reduction::nrm2, T>(x), g);
}

/// Non-blocking form.
template <ranks C, vector_operand X, result_place P>
  requires reductions::computable<reduction::nrm2, results::element_t<P>, X>
void nrm2(const C& over, const executor& where, const X& x, P&& result,
          grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::nrm2", over, where, calls::elements<reduction::nrm2, T>(x), result,
                 g);
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
  return calls::all_returned<T>(over, where,
                                calls::pairs<T>(multi_dots::against_one(x, y), conjugate::none), g);
}

/// Non-blocking form: result_j = r_j.
/// @param result pointer to the first of k results, or memory for k.
template <ranks C, rows_operand X, vector_operand Y, result_place P>
  requires multi_dots::computable_rows<results::element_t<P>, X, Y>
void multi_dot(const C& over, const executor& where, const X& x, const Y& y, P&& result,
               grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::multi_dot", over, where,
                 calls::pairs<T>(multi_dots::against_one(x, y), conjugate::none), result, g);
}

/// `multi_dot` of a list of pairs, `std::array{tally::pair_of(x, y), ...}`, all of the layout's
/// size.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const C& over, const executor& where, const L& pairs,
               grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return calls::all_returned<T>(over, where, calls::pairs<T>({{}, {}, list}, conjugate::none), g);
}

/// Non-blocking form.
template <ranks C, multi_dots::list L, result_place P>
  requires multi_dots::computable_list<results::element_t<P>, L>
void multi_dot(const C& over, const executor& where, const L& pairs, P&& result,
               grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  const auto list = multi_dots::erased(pairs);
  calls::written("tally::nccl::multi_dot", over, where,
                 calls::pairs<T>({{}, {}, list}, conjugate::none), result, g);
}

/// r_j = sum_i conj(x_ji) * y_i, j = 0 ... k-1, in one message.
template <class R = void, ranks C, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const C& over, const executor& where, const X& x, const Y& y,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::rows_result<X, Y, R>;
  return calls::all_returned<T>(over, where,
                                calls::pairs<T>(multi_dots::against_one(x, y), conjugate::x), g);
}

/// Non-blocking form.
template <ranks C, rows_operand X, vector_operand Y, result_place P>
  requires multi_dots::computable_rows<results::element_t<P>, X, Y>
void multi_dotc(const C& over, const executor& where, const X& x, const Y& y, P&& result,
                grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  calls::written("tally::nccl::multi_dotc", over, where,
                 calls::pairs<T>(multi_dots::against_one(x, y), conjugate::x), result, g);
}

/// `multi_dotc` of a list of pairs.
template <class R = void, ranks C, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const C& over, const executor& where, const L& pairs,
                grade_over<C> g = default_grade<C>()) {
  using T = calls::pairs_result<L, R>;
  const auto list = multi_dots::erased(pairs);
  return calls::all_returned<T>(over, where, calls::pairs<T>({{}, {}, list}, conjugate::x), g);
}

/// Non-blocking form.
template <ranks C, multi_dots::list L, result_place P>
  requires multi_dots::computable_list<results::element_t<P>, L>
void multi_dotc(const C& over, const executor& where, const L& pairs, P&& result,
                grade_over<C> g = default_grade<C>()) {
  using T = results::element_t<P>;
  const auto list = multi_dots::erased(pairs);
  calls::written("tally::nccl::multi_dotc", over, where,
                 calls::pairs<T>({{}, {}, list}, conjugate::x), result, g);
}

}  // namespace tally::nccl
