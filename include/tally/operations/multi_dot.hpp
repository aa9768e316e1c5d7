// Several sums: of k vectors, of their products with one vector, of a list of pairs, or of two
// blocks row by row. Vectors lie in memory in any layout: rows, columns, an axis of an array.
//
// Promise: each result has the bits of `sum` (<tally/operations/reduce.hpp>) or `dot`
// (<tally/operations/dot.hpp>) of its vectors alone. Shared vectors are read from memory once.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/detail/sums.hpp>
#include <tally/operands/rows.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/reduce.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace tally {

// --- Types erased --------------------------------------------------------------------------------

/// Two vectors of one product.
struct operand_pair {
  operand x;  ///< the first
  operand y;  ///< the second
};

/// A list, or if that is empty, rows j of `x` and `y`.
struct dot_pairs {
  operand_rows x;                           ///< first vectors
  operand_rows y;                           ///< second vectors
  std::span<const operand_pair> list = {};  ///< all x of one type, all y of one type

  /// Number of pairs.
  std::size_t size() const noexcept { return list.empty() ? x.rows : list.size(); }
  /// Pair j.
  operand_pair operator[](std::size_t j) const noexcept {
    return list.empty() ? operand_pair{x[j], y[j]} : list[j];
  }
};

/// Arguments with types erased, as `dot_arguments`. Result j lies j elements, or j times
/// `exact_words(results.element)` limbs, after `results.data`.
struct multi_dot_arguments {
  dot_pairs pairs;                         ///< at least one
  conjugate conjugated = conjugate::none;  ///< the conjugated vector of each pair
  output results;                          ///< the first of them
  call_options options = {};               ///< grade; whether to wait
};

/// multi_dot with types erased.
TALLY_EXPORT void multi_dot(const executor& where, const multi_dot_arguments& arguments);

/// The same with its own messages.
TALLY_EXPORT void batched_dot(const executor& where, const multi_dot_arguments& arguments);

/// Arguments of `sums` with types erased; `results` as of `multi_dot_arguments`, of the types that
/// `sum` has.
struct sums_arguments {
  operand_rows x;             ///< vectors, maybe none
  output results;             ///< the first of them
  call_options options = {};  ///< grade; whether to wait
};

/// sums with types erased.
TALLY_EXPORT void sums(const executor& where, const sums_arguments& arguments);

// --- Operands ------------------------------------------------------------------------------------

/// Two vectors of a list. Made by `tally::pair_of`.
template <element X, element Y>
struct vector_pair : operand_pair {};

/// A pair of any vectors, not owned.
template <vector_operand X, vector_operand Y>
vector_pair<element_t<X>, element_t<Y>> pair_of(const X& x, const Y& y) noexcept {
  return {{as_operand(x), as_operand(y)}};
}

namespace detail {

template <class X>
using sums_of_rows = sum_types<sum_result_t<row_t<X>>, dot_widest_t<row_t<X>, row_t<X>>,
                               std::same_as<real_t<row_t<X>>, double>>;
template <class X, class Y>
using rows_sum = product_sum<row_t<X>, element_t<Y>>;
template <class X, class Y>
using batched_sum = product_sum<row_t<X>, row_t<Y>>;

template <class P>
struct pair_sum {};
template <class X, class Y>
struct pair_sum<vector_pair<X, Y>> {
  using type = product_sum<X, Y>;
};
template <class L>
using list_sum = typename pair_sum<std::ranges::range_value_t<const L>>::type;

/// A range of `vector_pair`.
template <class L>
concept pair_range = std::ranges::forward_range<const L> && requires { typename list_sum<L>; };

template <class R, class L>
concept has_list_dot = pair_range<L> && summable<list_sum<L>, R>;
template <class R, class X, class Y>
concept has_rows_dot = rows_operand<X> && vector_operand<Y> && summable<rows_sum<X, Y>, R>;

template <class B>
inline constexpr wrong wrong_rows = unless(
    rows_operand<B>, wrong::several_vectors_or_a_dense_matrix_are_tally_rows_or_a_view_of_rank_2);

template <class X, class... Y>
struct dots_sum {
  using type = list_sum<X>;
};
template <class X, class Y>
struct dots_sum<X, Y> {
  using type = rows_sum<X, Y>;
};

template <class R = void>
struct multi_dot_call : sum_call<multi_dot_call<R>, R, dot_options, multi_dot_arguments> {
  template <class L>
    requires pair_range<L>
  static consteval wrong of() {
    return wrong::nothing;
  }
  template <class X, class Y>
    requires(!pair_range<X>)
  static consteval wrong of() {
    return first_wrong<wrong_rows<X>, wrong_vector<Y>>;
  }
  template <class... A>
  using sum = typename dots_sum<A...>::type;
};
template <class R = void>
struct sums_call : sum_call<sums_call<R>, R, grade, sums_arguments> {
  template <class X>
  static consteval wrong of() {
    return wrong_rows<X>;
  }
  template <class X>
  using sum = sums_of_rows<X>;
};
template <class R = void>
struct batched_dot_call : sum_call<batched_dot_call<R>, R, dot_options, multi_dot_arguments> {
  template <class X, class Y>
  static consteval wrong of() {
    return first_wrong<wrong_rows<X>, wrong_rows<Y>>;
  }
  template <class X, class Y>
  using sum = batched_sum<X, Y>;
};

template <rows_operand X, vector_operand Y>
dot_pairs against_one(const X& x, const Y& y) noexcept {
  const operand_rows rows = as_rows(x);
  return {rows, {as_operand(y), rows.rows}};
}

template <pair_range L>
std::vector<operand_pair> erased(const L& pairs) {
  return {std::ranges::begin(pairs), std::ranges::end(pairs)};
}

template <bool batched>
auto call_of(const executor& where, const dot_pairs& pairs, conjugate conjugated) {
  return [&where, &pairs, conjugated](const output& to, const call_options& options) {
    if constexpr (batched) {  // nvcc can't choose between overloaded functions
      batched_dot(where, {pairs, conjugated, to, options});
    } else {
      multi_dot(where, {pairs, conjugated, to, options});
    }
  };
}

template <class Sum, class R, bool batched = false>
auto returned_dots(const executor& where, const dot_pairs& pairs, dot_options how) {
  return returned_sums<Sum, R>(pairs.size(), how.grade,
                               call_of<batched>(where, pairs, how.conjugated));
}
template <class Sum, bool batched = false, class P>
void written_dots(const executor& where, const dot_pairs& pairs, P& results, dot_options how) {
  written_sums<Sum>(batched ? "tally::batched_dot" : "tally::multi_dot", pairs.size(), results,
                    how.grade, call_of<batched>(where, pairs, how.conjugated));
}

}  // namespace detail

// --- k vectors against one -----------------------------------------------------------------------

/// r_j = sum_i x_ji*y_i, j = 0 ... k-1, as in the orthogonalisation of GMRES, in one pass (y is
/// read once per up to 16 rows). Blocks.
///
/// @param x      k rows of n elements (`rows_operand`).
/// @param y      n elements, as for `dot`; may be a row.
/// @param how    conjugation and grade, as for `dot`; exact values are found one after another.
/// @tparam R     accumulator and result, as for `dot`.
/// @return       the k results.
/// @throws error size_mismatch, null_pointer (with k, n > 0), zero_increment, misaligned,
///               invalid_argument (too many rows), wrong_memory, device_failure, out_of_memory.
template <class R = void, class X, class Y>
  requires(!detail::pair_range<X> && detail::taken<detail::multi_dot_call<R>, X, Y>)
auto multi_dot(const executor& where, const X& x, const Y& y, dot_options how = {}) {
  return detail::returned_dots<detail::rows_sum<X, Y>, R>(where, detail::against_one(x, y), how);
}

/// results[j] = the same. Doesn't block, as `dot`.
/// @param results destination of k numbers (`result_place`); or `tally::add_to` of exact sums, one
///               per result, two per complex one, or of their contiguous limbs.
/// @throws error as above, also for `results`; overlap, if they share memory with x or y: some are
///               written while other rows are read.
template <class X, class Y, class P>
  requires detail::written<detail::multi_dot_call<>, X, Y, P>
void multi_dot(const executor& where, const X& x, const Y& y, P&& results, dot_options how = {}) {
  detail::written_dots<detail::rows_sum<X, Y>>(where, detail::against_one(x, y), results, how);
}

// --- Sums alone ----------------------------------------------------------------------------------

/// r_j = sum_i x_ji, j = 0 ... k-1: the sums along an axis of an array. Each has the bits of `sum`
/// of its vector alone, whatever the layout. Blocks; errors as for `multi_dot`.
///
/// @param x      k vectors of n elements (`rows_operand`); neighbours that lie side by side (a
///               leading dimension of 1) are summed together.
/// @param g      `tally::exact` for the correctly rounded values.
/// @tparam R     accumulator and result, as for `sum`.
/// @return       the k results; of rows in blocks block after block.
template <class R = void, class X>
  requires detail::taken<detail::sums_call<R>, X>
auto sums(const executor& where, const X& x, grade g = {}) {
  const operand_rows rows = detail::as_rows(x);
  return detail::returned_sums<detail::sums_of_rows<X>, R>(
      rows.rows, g,
      [&](const output& to, const call_options& options) { sums(where, {rows, to, options}); });
}

/// results[j] = the same. Doesn't block, as `sum`.
/// @param results as for `multi_dot`.
template <class X, class P>
  requires detail::written<detail::sums_call<>, X, P>
void sums(const executor& where, const X& x, P&& results, grade g = {}) {
  const operand_rows rows = detail::as_rows(x);
  detail::written_sums<detail::sums_of_rows<X>>(
      "tally::sums", rows.rows, results, g,
      [&](const output& to, const call_options& options) { sums(where, {rows, to, options}); });
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::sums_call<R>, T...>
auto sums(T&&... arguments) {
  return sums<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::sums_call<R>, T...>>
  requires detail::refused<why, T...>
void sums(T&&...) = delete;  // [where,] rows[, grade]; where, rows, results[, grade]

// --- A list of pairs -----------------------------------------------------------------------------

/// r_j = sum_i x_i*y_i of pair j, as in pipelined Krylov solvers. Otherwise as above.
///
/// @param pairs  a range of `tally::pair_of(x, y)`: all x of one element type, all y of one, each
///               pair of equal lengths.
template <class R = void, class L>
  requires detail::taken<detail::multi_dot_call<R>, L>
auto multi_dot(const executor& where, const L& pairs, dot_options how = {}) {
  const auto list = detail::erased(pairs);
  return detail::returned_dots<detail::list_sum<L>, R>(where, {{}, {}, list}, how);
}

/// results[j] = the same. Doesn't block.
template <class L, class P>
  requires detail::pair_range<L> && detail::written<detail::multi_dot_call<>, L, P>
void multi_dot(const executor& where, const L& pairs, P&& results, dot_options how = {}) {
  const auto list = detail::erased(pairs);
  detail::written_dots<detail::list_sum<L>>(where, {{}, {}, list}, results, how);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::multi_dot_call<R>, T...>
auto multi_dot(T&&... arguments) {
  return multi_dot<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::multi_dot_call<R>, T...>>
  requires detail::refused<why, T...>
void multi_dot(T&&...) = delete;  // [where,] rows, y or pairs[, options]; where, ..., results

// --- Many short pairs ----------------------------------------------------------------------------

/// r_j = sum_i x_ji*y_ji, j = 0 ... b-1. Otherwise as above.
///
/// @param x, y   b rows of n elements each (`rows_operand`), of any two element types. CUDA
///               vectorises contiguous rows of equal floating-point types.
template <class R = void, class X, class Y>
  requires detail::taken<detail::batched_dot_call<R>, X, Y>
auto batched_dot(const executor& where, const X& x, const Y& y, dot_options how = {}) {
  return detail::returned_dots<detail::batched_sum<X, Y>, R, true>(
      where, {detail::as_rows(x), detail::as_rows(y)}, how);
}

/// results[j] = the same. Doesn't block.
template <class X, class Y, class P>
  requires detail::written<detail::batched_dot_call<>, X, Y, P>
void batched_dot(const executor& where, const X& x, const Y& y, P&& results, dot_options how = {}) {
  detail::written_dots<detail::batched_sum<X, Y>, true>(
      where, {detail::as_rows(x), detail::as_rows(y)}, results, how);
}

/// The returned form on `automatic()`.
template <class R = void, class... T>
  requires detail::taken_unplaced<detail::batched_dot_call<R>, T...>
auto batched_dot(T&&... arguments) {
  return batched_dot<R>(automatic(), arguments...);
}

/// Refused, by `why`.
template <class R = void, class... T,
          detail::wrong why = detail::wrong_call<detail::batched_dot_call<R>, T...>>
  requires detail::refused<why, T...>
void batched_dot(T&&...) = delete;  // [where,] rows, rows[, options]; where, rows, rows, results

}  // namespace tally
