// Several dot products at once: k vectors against one, a list of pairs of vectors, or the rows of
// two blocks, pair by pair.
//
// Promise: every result has the bits of `dot` (or `dotc`) of its pair, in either grade, on every
// executor; see <tally/dot.hpp>. What is gained is time: a vector that several pairs share is read
// from memory once, and many short pairs cost one call.
#pragma once

#include <tally/dot.hpp>

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace tally {

// --- With their types erased ----------------------------------------------------------------------

/// Two vectors to be multiplied.
struct operand_pair {
  operand x;  ///< the first one
  operand y;  ///< the second one
};

/// The rows of a block, types erased: row j starts `j * leading_dimension` elements after row 0.
struct operand_rows {
  operand first;                         ///< row 0
  std::size_t rows = 0;                  ///< how many
  std::ptrdiff_t leading_dimension = 0;  ///< 0: all rows are the same vector

  /// Row j.
  operand operator[](std::size_t j) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(j) * leading_dimension *
                       static_cast<std::ptrdiff_t>(size_of(first.element));
    return {static_cast<const char*>(first.data) + bytes, first.size, first.increment,
            first.element};
  }
};

/// The pairs of one call: those of a list, or where that has none, rows j of `x` and `y`.
struct dot_pairs {
  operand_rows x;                           ///< rows that are multiplied
  operand_rows y;                           ///< with these
  std::span<const operand_pair> list = {};  ///< all x of one type, all y of one

  /// How many pairs there are.
  std::size_t size() const noexcept { return list.empty() ? x.rows : list.size(); }
  /// Pair j.
  operand_pair operator[](std::size_t j) const noexcept {
    return list.empty() ? operand_pair{x[j], y[j]} : list[j];
  }
};

/// What several dot products are asked for. `results.element` is the accumulator of all, as in
/// `dot_arguments`; result j lies j of its elements after `results.data`.
struct multi_dot_arguments {
  dot_pairs pairs;                         ///< at least one
  conjugate conjugated = conjugate::none;  ///< which vector of each pair
  output results;                          ///< the first of them
  /// With `wait`, the results are in host memory, and there on return. Without, in memory that the
  /// executor can write, and on a device the call returns as soon as the work is queued.
  bool wait = true;
  bool exact = false;  ///< the correctly rounded values
};

/// multi_dot with its types erased: what the templates below call.
/// @throws error, see the templates.
TALLY_EXPORT void multi_dot(const executor& where, const multi_dot_arguments& arguments);

/// The same by its other name, with which its errors begin.
TALLY_EXPORT void batched_dot(const executor& where, const multi_dot_arguments& arguments);

// --- Operands -------------------------------------------------------------------------------------

/// Vectors as the rows of a block, each contiguous. Made by `tally::rows`.
template <element T>
struct row_block {
  const T* pointer = nullptr;            ///< element 0 of row 0
  std::size_t rows = 0;                  ///< vectors
  std::size_t columns = 0;               ///< elements of each
  std::ptrdiff_t leading_dimension = 0;  ///< elements from one row to the next
};

/// `rows` vectors of `columns` elements: element i of row j is `pointer[j * leading_dimension +
/// i]`. Rows may overlap, since they are only read; with 0 they are all the same.
template <element T>
constexpr row_block<T> rows(const T* pointer, std::size_t rows, std::size_t columns,
                            std::ptrdiff_t leading_dimension) noexcept {
  return {pointer, rows, columns, leading_dimension};
}

/// Rows without a gap.
template <element T>
constexpr row_block<T> rows(const T* pointer, std::size_t rows, std::size_t columns) noexcept {
  return {pointer, rows, columns, static_cast<std::ptrdiff_t>(columns)};
}

/// Two vectors of a list. Made by `tally::pair_of`.
template <element X, element Y>
struct vector_pair : operand_pair {};

/// The pair of vectors of any kind: `std::array{tally::pair_of(r, u), tally::pair_of(w, u)}` is a
/// list. It owns nothing.
template <vector_operand X, vector_operand Y>
vector_pair<element_t<X>, element_t<Y>> pair_of(const X& x, const Y& y) noexcept {
  return {{as_operand(x), as_operand(y)}};
}

namespace multi_dots {

template <class P>
struct elements {};
template <class X, class Y>
struct elements<vector_pair<X, Y>> {
  using x = strided_view<X>;
  using y = strided_view<Y>;
};

template <class L>
using pair_t = std::ranges::range_value_t<const L>;
template <class L>
using x_of = typename elements<pair_t<L>>::x;
template <class L>
using y_of = typename elements<pair_t<L>>::y;

/// A list of pairs: a forward range of `vector_pair`.
template <class L>
concept list = std::ranges::forward_range<const L> && requires { typename x_of<L>; };

template <class R, class L>
concept computable_list = list<L> && dots::computable<R, x_of<L>, y_of<L>>;

/// For R, the elements of a block, and a vector or the elements of another block.
template <class R, class X, class Y>
concept computable_rows = dots::computable<R, strided_view<X>, Y>;

template <element T>
operand_rows as_rows(const row_block<T>& b) noexcept {
  return {{b.pointer, b.columns, 1, type_of<T>}, b.rows, b.leading_dimension};
}

template <element X, vector_operand Y>
dot_pairs against_one(const row_block<X>& x, const Y& y) noexcept {
  return {as_rows(x), {as_operand(y), x.rows, 0}};
}

template <list L>
std::vector<operand_pair> erased(const L& pairs) {
  return {std::ranges::begin(pairs), std::ranges::end(pairs)};
}

using function = void(const executor& where, const multi_dot_arguments& arguments);

/// The two forms with their types erased.
template <class R>
std::vector<R> returned(function& f, const executor& where, const dot_pairs& pairs,
                        conjugate conjugated, grade g) {
  std::vector<R> results(pairs.size());
  f(where, {pairs, conjugated, {results.data(), type_of<R>}, true, g.is_exact()});
  return results;
}
template <class R>
void written(function& f, const executor& where, const dot_pairs& pairs, conjugate conjugated,
             R* results, grade g) {
  f(where, {pairs, conjugated, {results, type_of<R>}, false, g.is_exact()});
}

}  // namespace multi_dots

// --- k vectors against one ------------------------------------------------------------------------

/// r_j = sum_i x_ji * y_i, j = 0 ... k-1: the rows of a block against one vector, as in the
/// orthogonalisation of GMRES. One pass over memory: y is read once for up to 16 rows.
///
/// @param where  the executor.
/// @param x      k rows of n elements (`tally::rows`).
/// @param y      a vector of n elements, as for `dot`; it may be one of the rows.
/// @param g      `tally::exact` for the correctly rounded values, which are computed one after
///               another.
/// @tparam R     the accumulator and result, as for `dot`: `tally::multi_dot<double>(x, y)`.
/// @return       the k results. Blocks until they are there.
/// @throws error size_mismatch, null_pointer (with k, n > 0), zero_increment, misaligned,
///               invalid_argument (more than 2^48 rows, also times the leading dimension),
///               wrong_memory, device_failure, out_of_memory.
template <class R = void, element X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dot(const executor& where, const row_block<X>& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, strided_view<X>, Y>>(
      multi_dot, where, multi_dots::against_one(x, y), conjugate::none, g);
}

/// As above, on `automatic()`.
template <class R = void, element X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dot(const row_block<X>& x, const Y& y, grade g = {}) {
  return multi_dot<R>(automatic(), x, y, g);
}

/// results[j] = sum_i x_ji * y_i, accumulated in `R`. Doesn't block: on a device the call returns
/// once the work is queued on the executor's stream, and may be captured in a graph (see `dot`).
/// @param results k elements where the executor can write.
/// @throws error as above, and wrong_memory, null_pointer or misaligned for `results`; overlap, if
///               they share memory with x or y: a result is written while others' rows are read.
template <element X, vector_operand Y, element R>
  requires multi_dots::computable_rows<R, X, Y>
void multi_dot(const executor& where, const row_block<X>& x, const Y& y, R* results, grade g = {}) {
  multi_dots::written(multi_dot, where, multi_dots::against_one(x, y), conjugate::none, results, g);
}

/// r_j = sum_i conj(x_ji) * y_i; the same as `multi_dot` for real x.
template <class R = void, element X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const executor& where, const row_block<X>& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, strided_view<X>, Y>>(
      multi_dot, where, multi_dots::against_one(x, y), conjugate::x, g);
}

/// As above, on `automatic()`.
template <class R = void, element X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const row_block<X>& x, const Y& y, grade g = {}) {
  return multi_dotc<R>(automatic(), x, y, g);
}

/// results[j] = sum_i conj(x_ji) * y_i; doesn't block.
template <element X, vector_operand Y, element R>
  requires multi_dots::computable_rows<R, X, Y>
void multi_dotc(const executor& where, const row_block<X>& x, const Y& y, R* results,
                grade g = {}) {
  multi_dots::written(multi_dot, where, multi_dots::against_one(x, y), conjugate::x, results, g);
}

// --- A list of pairs ------------------------------------------------------------------------------

/// r_j = sum_i x_i * y_i of pair j: the merged dot products of a pipelined Krylov solver. Vectors
/// that several pairs share are read from memory once, as far as the caches hold a part of all.
///
/// @param where  the executor.
/// @param pairs  a range of `tally::pair_of(x, y)`: all x of one element type, all y of one, each
///               pair of equal lengths; lengths may differ between pairs.
/// @param g      as for k vectors against one, and so are `R`, results and errors.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const executor& where, const L& pairs, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  return multi_dots::returned<dots::accumulator<R, multi_dots::x_of<L>, multi_dots::y_of<L>>>(
      multi_dot, where, {{}, {}, list}, conjugate::none, g);
}

/// As above, on `automatic()`.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const L& pairs, grade g = {}) {
  return multi_dot<R>(automatic(), pairs, g);
}

/// results[j] = sum_i x_i * y_i of pair j; doesn't block. The list itself may go at once.
template <multi_dots::list L, element R>
  requires multi_dots::computable_list<R, L>
void multi_dot(const executor& where, const L& pairs, R* results, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::written(multi_dot, where, {{}, {}, list}, conjugate::none, results, g);
}

/// r_j = sum_i conj(x_i) * y_i of pair j.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const executor& where, const L& pairs, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  return multi_dots::returned<dots::accumulator<R, multi_dots::x_of<L>, multi_dots::y_of<L>>>(
      multi_dot, where, {{}, {}, list}, conjugate::x, g);
}

/// As above, on `automatic()`.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const L& pairs, grade g = {}) {
  return multi_dotc<R>(automatic(), pairs, g);
}

/// results[j] = sum_i conj(x_i) * y_i of pair j; doesn't block.
template <multi_dots::list L, element R>
  requires multi_dots::computable_list<R, L>
void multi_dotc(const executor& where, const L& pairs, R* results, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::written(multi_dot, where, {{}, {}, list}, conjugate::x, results, g);
}

// --- Many short pairs -----------------------------------------------------------------------------

/// r_j = sum_i x_ji * y_ji, j = 0 ... b-1: row j of one block against row j of another.
///
/// @param where  the executor.
/// @param x, y   b rows of n elements each (`tally::rows`), of any two of the element types. On
///               CUDA, pairs of equal floating-point types run at the speed of memory, from rows
///               of any length; others are read element by element.
/// @param g      as for k vectors against one, and so are `R`, results and errors.
template <class R = void, element X, element Y>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
auto batched_dot(const executor& where, const row_block<X>& x, const row_block<Y>& y,
                 grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, strided_view<X>, strided_view<Y>>>(
      batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::none, g);
}

/// As above, on `automatic()`.
template <class R = void, element X, element Y>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
auto batched_dot(const row_block<X>& x, const row_block<Y>& y, grade g = {}) {
  return batched_dot<R>(automatic(), x, y, g);
}

/// results[j] = sum_i x_ji * y_ji; doesn't block.
template <element X, element Y, element R>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
void batched_dot(const executor& where, const row_block<X>& x, const row_block<Y>& y, R* results,
                 grade g = {}) {
  multi_dots::written(batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
                      conjugate::none, results, g);
}

/// r_j = sum_i conj(x_ji) * y_ji.
template <class R = void, element X, element Y>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
auto batched_dotc(const executor& where, const row_block<X>& x, const row_block<Y>& y,
                  grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, strided_view<X>, strided_view<Y>>>(
      batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::x, g);
}

/// As above, on `automatic()`.
template <class R = void, element X, element Y>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
auto batched_dotc(const row_block<X>& x, const row_block<Y>& y, grade g = {}) {
  return batched_dotc<R>(automatic(), x, y, g);
}

/// results[j] = sum_i conj(x_ji) * y_ji; doesn't block.
template <element X, element Y, element R>
  requires multi_dots::computable_rows<R, X, strided_view<Y>>
void batched_dotc(const executor& where, const row_block<X>& x, const row_block<Y>& y, R* results,
                  grade g = {}) {
  multi_dots::written(batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
                      conjugate::x, results, g);
}

}  // namespace tally
