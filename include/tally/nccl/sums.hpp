// Dot products, sums and norms over devices. Promise: <tally/distributed/sums.hpp>, whether NCCL or
// peer stores carry the messages.
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

#include <tally/distributed/sums.hpp>
#include <tally/nccl/reduction.hpp>

namespace tally::nccl {

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

template <class C, class P>
void written(const char* function, const C& over, const executor& where, const field_sums& all,
             P& to, grade_over<C> g) {
  queue(over, where, all, g, detail::first_result(function, to, all.fields.size()));
}

/// Type of the results at P.
template <result_place P>
using result_at = detail::result_element_t<P>;

}  // namespace detail

/// Non-blocking form: result = r.
/// @param result pointer, or memory for one number (`result_place`), of the accumulator's type.
template <ranks C, result_place P, vector_operand X, detail::dot_factor<detail::result_at<P>, X> Y>
void dot(const C& over, const executor& where, const X& x, const Y& y, P&& result,
         dot_options_over<C> how = {}) {
  detail::written("tally::nccl::dot", over, where,
                  detail::products<detail::result_at<P>>(x, y, how.conjugated), result, how.grade);
}

/// Non-blocking form.
template <ranks C, result_place P, detail::summed<detail::result_at<P>, reduction::sum> X>
void sum(const C& over, const executor& where, const X& x, P&& result, grade_over<C> g = {}) {
  detail::written("tally::nccl::sum", over, where,
                  detail::elements<reduction::sum, detail::result_at<P>>(x), result, g);
}

/// Non-blocking form.
template <ranks C, result_place P, detail::summed<detail::result_at<P>, reduction::asum> X>
void asum(const C& over, const executor& where, const X& x, P&& result, grade_over<C> g = {}) {
  detail::written("tally::nccl::asum", over, where,
                  detail::elements<reduction::asum, detail::result_at<P>>(x), result, g);
}

/// Non-blocking form. Never leaves the range on the way.
template <ranks C, result_place P, detail::summed<detail::result_at<P>, reduction::nrm2> X>
void nrm2(const C& over, const executor& where, const X& x, P&& result, grade_over<C> g = {}) {
  detail::written("tally::nccl::nrm2", over, where,
                  detail::elements<reduction::nrm2, detail::result_at<P>>(x), result, g);
}

/// Non-blocking form: result_j = r_j.
/// @param result pointer to the first of k results, or memory for k.
template <ranks C, result_place P, rows_operand X, detail::row_factor<detail::result_at<P>, X> Y>
void multi_dot(const C& over, const executor& where, const X& x, const Y& y, P&& result,
               dot_options_over<C> how = {}) {
  detail::written("tally::nccl::multi_dot", over, where,
                  detail::pairs<detail::result_at<P>>(x, y, how.conjugated), result, how.grade);
}

/// Non-blocking form.
template <ranks C, result_place P, detail::pair_list<detail::result_at<P>> L>
void multi_dot(const C& over, const executor& where, const L& list, P&& result,
               dot_options_over<C> how = {}) {
  detail::written("tally::nccl::multi_dot", over, where,
                  detail::pairs<detail::result_at<P>>(list, how.conjugated), result, how.grade);
}

/// Non-blocking form of a range of vectors.
template <ranks C, result_place P, fields L>
void sums(const C& over, const executor& where, const L& vectors, P&& result,
          grade_over<C> g = {}) {
  detail::written("tally::nccl::sums", over, where, detail::each<detail::result_at<P>>(vectors),
                  result, g);
}

/// Non-blocking form of rows.
template <ranks C, result_place P, detail::summed_rows<detail::result_at<P>> X>
void sums(const C& over, const executor& where, const X& x, P&& result, grade_over<C> g = {}) {
  detail::written("tally::nccl::sums", over, where, detail::each_row<detail::result_at<P>>(x),
                  result, g);
}

}  // namespace tally::nccl
