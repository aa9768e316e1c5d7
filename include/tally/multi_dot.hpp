// Several dot products: k vectors against one, a list of pairs, or two blocks row by row.
//
// Promise: each result has the bits of `dot` or `dotc` (<tally/dot.hpp>). Shared vectors are read
// from memory once.
#pragma once

#include <tally/detail/refusal.hpp>
#include <tally/dot.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace tally {

// --- Types erased --------------------------------------------------------------------------------

/// Two vectors of one product.
struct operand_pair {
  operand x;  ///< the first
  operand y;  ///< the second
};

/// Rows, types erased: row j starts `j*leading_dimension` elements after row 0.
struct operand_rows {
  operand first;                         ///< row 0
  std::size_t rows = 0;                  ///< number of rows
  std::ptrdiff_t leading_dimension = 0;  ///< 0: all rows are the same vector

  /// Row j.
  operand operator[](std::size_t j) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(j) * leading_dimension *
                       static_cast<std::ptrdiff_t>(size_of(first.element));
    return {static_cast<const char*>(first.data) + bytes, first.size, first.increment,
            first.element};
  }
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

// --- Operands ------------------------------------------------------------------------------------

/// Rows of a block. Made by `tally::rows`.
template <element T>
struct row_block {
  const T* pointer = nullptr;            ///< element 0 of row 0
  std::size_t rows = 0;                  ///< number of vectors
  std::size_t columns = 0;               ///< elements per vector
  std::ptrdiff_t leading_dimension = 0;  ///< elements between rows
  std::ptrdiff_t increment = 1;          ///< elements between neighbours in a row
};

/// Element i of row j is `pointer[j*leading_dimension + i*increment]`. Rows may overlap, or
/// coincide (leading dimension 0).
template <element T>
constexpr row_block<T> rows(const T* pointer, std::size_t rows, std::size_t columns,
                            std::ptrdiff_t leading_dimension,
                            std::ptrdiff_t increment = 1) noexcept {
  return {pointer, rows, columns, leading_dimension, increment};
}

/// Rows without gaps.
template <element T>
constexpr row_block<T> rows(const T* pointer, std::size_t rows, std::size_t columns) noexcept {
  return {pointer, rows, columns, static_cast<std::ptrdiff_t>(columns)};
}

namespace multi_dots {

template <class B>
struct row {};
template <class T>
struct row<row_block<T>> {
  using element = T;
};
template <operands::matrix_view B>
struct row<B> {
  using element = std::remove_cv_t<typename B::value_type>;
};

}  // namespace multi_dots

/// Rows of a block: a `tally::rows`, or a rank-2 `Kokkos::View` or `std::mdspan` of any layout and
/// an element type, with elements (j, i) in row j.
template <class B>
concept rows_operand = requires { typename multi_dots::row<B>::element; } &&
                       element<typename multi_dots::row<B>::element>;

/// Two vectors of a list. Made by `tally::pair_of`.
template <element X, element Y>
struct vector_pair : operand_pair {};

/// A pair of any vectors, not owned.
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

template <class L>
concept list = std::ranges::forward_range<const L> && requires { typename x_of<L>; };

template <class R, class L>
concept computable_list = list<L> && dots::computable<R, x_of<L>, y_of<L>>;

template <rows_operand B>
using row_of = strided_view<typename row<B>::element>;

template <class R, class X, class Y>
concept computable_rows = dots::computable<R, row_of<X>, Y>;

template <rows_operand B>
operand_rows as_rows(const B& b) noexcept {
  constexpr type element = type_of<typename row<B>::element>;
  if constexpr (operands::matrix_view<B>) {
    return {{operands::address(b), static_cast<std::size_t>(b.extent(1)),
             static_cast<std::ptrdiff_t>(b.stride(1)), element},
            static_cast<std::size_t>(b.extent(0)),
            static_cast<std::ptrdiff_t>(b.stride(0))};
  } else {
    return {{b.pointer, b.columns, b.increment, element}, b.rows, b.leading_dimension};
  }
}

template <rows_operand X, vector_operand Y>
dot_pairs against_one(const X& x, const Y& y) noexcept {
  const operand_rows rows = as_rows(x);
  return {rows, {as_operand(y), rows.rows, 0}};
}

template <list L>
std::vector<operand_pair> erased(const L& pairs) {
  return {std::ranges::begin(pairs), std::ranges::end(pairs)};
}

using function = void(const executor& where, const multi_dot_arguments& arguments);

template <class R>
std::vector<R> returned(function& f, const executor& where, const dot_pairs& pairs,
                        conjugate conjugated, grade g) {
  std::vector<R> results(pairs.size());
  f(where, {pairs, conjugated, {results.data(), type_of<R>}, {g, true}});
  return results;
}
template <class P>
void written(function& f, const char* name, const executor& where, const dot_pairs& pairs,
             conjugate conjugated, P& results, grade g) {
  auto* const first = tally::results::first(name, results, pairs.size());
  f(where, {pairs, conjugated, {first, type_of<results::element_t<P>>}, {g, false}});
}

template <float_or_double T>
multi_dot_arguments adding(const dot_pairs& pairs, bool parted, conjugate conjugated,
                           std::int64_t* words, bool wait) {
  multi_dot_arguments a;
  a.pairs = pairs;
  a.conjugated = conjugated;
  a.results = output{words, exact_sums::type_of_sum<T>(parted), true};
  a.options.wait = wait;
  return a;
}

template <float_or_double T>
void merged(function& f, const char* name, const executor& where, const dot_pairs& pairs,
            bool parted, conjugate conjugated, const added_sums<T>& sums) {
  exact_sums::merge_into(name, sums, pairs.size() * (parted ? 2 : 1), [&](std::int64_t* words) {
    f(where, adding<T>(pairs, parted, conjugated, words, true));
  });
}
template <float_or_double T>
void added(function& f, const executor& where, const dot_pairs& pairs, bool parted,
           conjugate conjugated, const added_words<T>& to) {
  f(where, adding<T>(pairs, parted, conjugated, to.words, false));
}

template <class T, class X, class Y>
concept addable_rows = dots::addable<T, row_of<X>, Y>;
template <class T, class L>
concept addable_list = list<L> && dots::addable<T, x_of<L>, y_of<L>>;

}  // namespace multi_dots

// --- k vectors against one -----------------------------------------------------------------------

/// r_j = sum_i x_ji*y_i, j = 0 ... k-1, as in the orthogonalisation of GMRES, in one pass (y is
/// read once per up to 16 rows). Blocks.
///
/// @param x      k rows of n elements (`rows_operand`).
/// @param y      n elements, as for `dot`; may be a row.
/// @param g      `tally::exact` for correctly rounded values, one after another.
/// @tparam R     accumulator and result, as for `dot`.
/// @return       the k results.
/// @throws error size_mismatch, null_pointer (with k, n > 0), zero_increment, misaligned,
///               invalid_argument (too many rows), wrong_memory, device_failure, out_of_memory.
template <class R = void, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dot(const executor& where, const X& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, multi_dots::row_of<X>, Y>>(
      multi_dot, where, multi_dots::against_one(x, y), conjugate::none, g);
}

/// The same on `automatic()`.
template <class R = void, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dot(const X& x, const Y& y, grade g = {}) {
  return multi_dot<R>(automatic(), x, y, g);
}

/// results[j] = sum_i x_ji*y_i. Doesn't block, as `dot`.
/// @param results destination of k numbers (`result_place`).
/// @throws error as above, also for `results`; overlap, if they share memory with x or y: some are
///               written while other rows are read.
template <rows_operand X, vector_operand Y, result_place R>
  requires multi_dots::computable_rows<results::element_t<R>, X, Y>
void multi_dot(const executor& where, const X& x, const Y& y, R&& results, grade g = {}) {
  multi_dots::written(multi_dot, "tally::multi_dot", where, multi_dots::against_one(x, y),
                      conjugate::none, results, g);
}

/// r_j = sum_i conj(x_ji)*y_i.
template <class R = void, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const executor& where, const X& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, multi_dots::row_of<X>, Y>>(
      multi_dot, where, multi_dots::against_one(x, y), conjugate::x, g);
}

/// The same on `automatic()`.
template <class R = void, rows_operand X, vector_operand Y>
  requires multi_dots::computable_rows<R, X, Y>
auto multi_dotc(const X& x, const Y& y, grade g = {}) {
  return multi_dotc<R>(automatic(), x, y, g);
}

/// results[j] = sum_i conj(x_ji)*y_i. Doesn't block.
template <rows_operand X, vector_operand Y, result_place R>
  requires multi_dots::computable_rows<results::element_t<R>, X, Y>
void multi_dotc(const executor& where, const X& x, const Y& y, R&& results, grade g = {}) {
  multi_dots::written(multi_dot, "tally::multi_dotc", where, multi_dots::against_one(x, y),
                      conjugate::x, results, g);
}

// --- A list of pairs -----------------------------------------------------------------------------

/// r_j = sum_i x_i*y_i of pair j, as in pipelined Krylov solvers. Otherwise as above.
///
/// @param pairs  a range of `tally::pair_of(x, y)`: all x of one element type, all y of one, each
///               pair of equal lengths.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const executor& where, const L& pairs, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  return multi_dots::returned<dots::accumulator<R, multi_dots::x_of<L>, multi_dots::y_of<L>>>(
      multi_dot, where, {{}, {}, list}, conjugate::none, g);
}

/// The same on `automatic()`.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dot(const L& pairs, grade g = {}) {
  return multi_dot<R>(automatic(), pairs, g);
}

/// results[j] = sum_i x_i*y_i of pair j. Doesn't block.
template <multi_dots::list L, result_place R>
  requires multi_dots::computable_list<results::element_t<R>, L>
void multi_dot(const executor& where, const L& pairs, R&& results, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::written(multi_dot, "tally::multi_dot", where, {{}, {}, list}, conjugate::none,
                      results, g);
}

/// r_j = sum_i conj(x_i)*y_i of pair j.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const executor& where, const L& pairs, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  return multi_dots::returned<dots::accumulator<R, multi_dots::x_of<L>, multi_dots::y_of<L>>>(
      multi_dot, where, {{}, {}, list}, conjugate::x, g);
}

/// The same on `automatic()`.
template <class R = void, multi_dots::list L>
  requires multi_dots::computable_list<R, L>
auto multi_dotc(const L& pairs, grade g = {}) {
  return multi_dotc<R>(automatic(), pairs, g);
}

/// results[j] = sum_i conj(x_i)*y_i of pair j. Doesn't block.
template <multi_dots::list L, result_place R>
  requires multi_dots::computable_list<results::element_t<R>, L>
void multi_dotc(const executor& where, const L& pairs, R&& results, grade g = {}) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::written(multi_dot, "tally::multi_dotc", where, {{}, {}, list}, conjugate::x, results,
                      g);
}

// --- Many short pairs ----------------------------------------------------------------------------

/// r_j = sum_i x_ji*y_ji, j = 0 ... b-1. Otherwise as above.
///
/// @param x, y   b rows of n elements each (`rows_operand`), of any two element types. CUDA
///               vectorises contiguous rows of equal floating-point types.
template <class R = void, rows_operand X, rows_operand Y>
  requires multi_dots::computable_rows<R, X, multi_dots::row_of<Y>>
auto batched_dot(const executor& where, const X& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, multi_dots::row_of<X>, multi_dots::row_of<Y>>>(
      batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::none, g);
}

/// The same on `automatic()`.
template <class R = void, rows_operand X, rows_operand Y>
  requires multi_dots::computable_rows<R, X, multi_dots::row_of<Y>>
auto batched_dot(const X& x, const Y& y, grade g = {}) {
  return batched_dot<R>(automatic(), x, y, g);
}

/// results[j] = sum_i x_ji*y_ji. Doesn't block.
template <rows_operand X, rows_operand Y, result_place R>
  requires multi_dots::computable_rows<results::element_t<R>, X, multi_dots::row_of<Y>>
void batched_dot(const executor& where, const X& x, const Y& y, R&& results, grade g = {}) {
  multi_dots::written(batched_dot, "tally::batched_dot", where,
                      {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::none, results,
                      g);
}

/// r_j = sum_i conj(x_ji)*y_ji.
template <class R = void, rows_operand X, rows_operand Y>
  requires multi_dots::computable_rows<R, X, multi_dots::row_of<Y>>
auto batched_dotc(const executor& where, const X& x, const Y& y, grade g = {}) {
  return multi_dots::returned<dots::accumulator<R, multi_dots::row_of<X>, multi_dots::row_of<Y>>>(
      batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::x, g);
}

/// The same on `automatic()`.
template <class R = void, rows_operand X, rows_operand Y>
  requires multi_dots::computable_rows<R, X, multi_dots::row_of<Y>>
auto batched_dotc(const X& x, const Y& y, grade g = {}) {
  return batched_dotc<R>(automatic(), x, y, g);
}

/// results[j] = sum_i conj(x_ji)*y_ji. Doesn't block.
template <rows_operand X, rows_operand Y, result_place R>
  requires multi_dots::computable_rows<results::element_t<R>, X, multi_dots::row_of<Y>>
void batched_dotc(const executor& where, const X& x, const Y& y, R&& results, grade g = {}) {
  multi_dots::written(batched_dot, "tally::batched_dotc", where,
                      {multi_dots::as_rows(x), multi_dots::as_rows(y)}, conjugate::x, results, g);
}

// --- Unrounded sums ------------------------------------------------------------------------------

/// Adds the sums of `multi_dot` to exact sums, one per result, two per complex one; blocks.
/// @throws error as `multi_dot`, and size_mismatch for a wrong number of sums.
template <rows_operand X, vector_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, Y>
void multi_dot(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  multi_dots::merged(multi_dot, "tally::multi_dot", where, multi_dots::against_one(x, y),
                     dots::parted<multi_dots::row_of<X>, Y>, conjugate::none, sums);
}

/// Adds to contiguous limbs where the executor can write. Doesn't block.
template <rows_operand X, vector_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, Y>
void multi_dot(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  multi_dots::added(multi_dot, where, multi_dots::against_one(x, y),
                    dots::parted<multi_dots::row_of<X>, Y>, conjugate::none, words);
}

/// Adds the sums of `multi_dotc` to exact sums.
template <rows_operand X, vector_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, Y>
void multi_dotc(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  multi_dots::merged(multi_dot, "tally::multi_dotc", where, multi_dots::against_one(x, y),
                     dots::parted<multi_dots::row_of<X>, Y>, conjugate::x, sums);
}

/// Adds the sums of `multi_dotc` to limbs.
template <rows_operand X, vector_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, Y>
void multi_dotc(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  multi_dots::added(multi_dot, where, multi_dots::against_one(x, y),
                    dots::parted<multi_dots::row_of<X>, Y>, conjugate::x, words);
}

/// Adds the sums of `multi_dot` for a list to exact sums.
template <multi_dots::list L, float_or_double T>
  requires multi_dots::addable_list<T, L>
void multi_dot(const executor& where, const L& pairs, const added_sums<T>& sums) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::merged(multi_dot, "tally::multi_dot", where, {{}, {}, list},
                     dots::parted<multi_dots::x_of<L>, multi_dots::y_of<L>>, conjugate::none, sums);
}

/// Adds the sums of `multi_dot` for a list to limbs.
template <multi_dots::list L, float_or_double T>
  requires multi_dots::addable_list<T, L>
void multi_dot(const executor& where, const L& pairs, const added_words<T>& words) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::added(multi_dot, where, {{}, {}, list},
                    dots::parted<multi_dots::x_of<L>, multi_dots::y_of<L>>, conjugate::none, words);
}

/// Adds the sums of `multi_dotc` for a list to exact sums.
template <multi_dots::list L, float_or_double T>
  requires multi_dots::addable_list<T, L>
void multi_dotc(const executor& where, const L& pairs, const added_sums<T>& sums) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::merged(multi_dot, "tally::multi_dotc", where, {{}, {}, list},
                     dots::parted<multi_dots::x_of<L>, multi_dots::y_of<L>>, conjugate::x, sums);
}

/// Adds the sums of `multi_dotc` for a list to limbs.
template <multi_dots::list L, float_or_double T>
  requires multi_dots::addable_list<T, L>
void multi_dotc(const executor& where, const L& pairs, const added_words<T>& words) {
  const auto list = multi_dots::erased(pairs);
  multi_dots::added(multi_dot, where, {{}, {}, list},
                    dots::parted<multi_dots::x_of<L>, multi_dots::y_of<L>>, conjugate::x, words);
}

/// Adds the sums of `batched_dot` to exact sums.
template <rows_operand X, rows_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, multi_dots::row_of<Y>>
void batched_dot(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  multi_dots::merged(
      batched_dot, "tally::batched_dot", where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
      dots::parted<multi_dots::row_of<X>, multi_dots::row_of<Y>>, conjugate::none, sums);
}

/// Adds the sums of `batched_dot` to limbs.
template <rows_operand X, rows_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, multi_dots::row_of<Y>>
void batched_dot(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  multi_dots::added(batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
                    dots::parted<multi_dots::row_of<X>, multi_dots::row_of<Y>>, conjugate::none,
                    words);
}

/// Adds the sums of `batched_dotc` to exact sums.
template <rows_operand X, rows_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, multi_dots::row_of<Y>>
void batched_dotc(const executor& where, const X& x, const Y& y, const added_sums<T>& sums) {
  multi_dots::merged(
      batched_dot, "tally::batched_dotc", where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
      dots::parted<multi_dots::row_of<X>, multi_dots::row_of<Y>>, conjugate::x, sums);
}

/// Adds the sums of `batched_dotc` to limbs.
template <rows_operand X, rows_operand Y, float_or_double T>
  requires multi_dots::addable_rows<T, X, multi_dots::row_of<Y>>
void batched_dotc(const executor& where, const X& x, const Y& y, const added_words<T>& words) {
  multi_dots::added(batched_dot, where, {multi_dots::as_rows(x), multi_dots::as_rows(y)},
                    dots::parted<multi_dots::row_of<X>, multi_dots::row_of<Y>>, conjugate::x,
                    words);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace multi_dots {

struct block {
  template <class T>
  static constexpr bool is = rows_operand<T>;
  template <class T>
  static auto say() {
    static_assert(refusals::never<T>,
                  "rows are tally::rows(pointer, rows, columns) or a rank-2 Kokkos::View or "
                  "std::mdspan, of an element type");
  }
};

/// Rows, a list, or the erased arguments, whose overload's address is taken.
struct rows_or_list {
  template <class T>
  static constexpr bool is = rows_operand<T> || list<T> || std::same_as<T, multi_dot_arguments>;
  template <class T>
  static auto say() {
    static_assert(refusals::never<T>,
                  "several vectors are tally::rows(pointer, rows, columns), a rank-2 Kokkos::View "
                  "or std::mdspan, or a range of tally::pair_of(x, y), of an element type");
  }
};

using for_multi_dot = refusals::arguments<rows_or_list>;
using for_batched_dot = refusals::arguments<block, block>;

}  // namespace multi_dots

template <class... T>
  requires refusals::refused<multi_dots::for_multi_dot, T...>
auto multi_dot(const T&...) {
  return refusals::refuse<multi_dots::for_multi_dot, T...>();
}

template <class... T>
auto multi_dot(...) {
  static_assert(refusals::never<T...>,
                "multi_dot takes an executor or none, then rows and a vector, or a range of "
                "tally::pair_of(x, y), then tally::exact or nothing; results, a pointer or "
                "memory of the sums' type, come after them and only where an executor comes "
                "first; multi_dot<R> has an R no narrower than the sums' own type");
  return 0.0;
}

template <class... T>
  requires refusals::refused<multi_dots::for_multi_dot, T...>
auto multi_dotc(const T&...) {
  return refusals::refuse<multi_dots::for_multi_dot, T...>();
}

template <class... T>
auto multi_dotc(...) {
  static_assert(refusals::never<T...>,
                "multi_dotc takes an executor or none, then rows and a vector, or a range of "
                "tally::pair_of(x, y), then tally::exact or nothing; results, a pointer or "
                "memory of the sums' type, come after them and only where an executor comes "
                "first; multi_dotc<R> has an R no narrower than the sums' own type");
  return 0.0;
}

template <class... T>
  requires refusals::refused<multi_dots::for_batched_dot, T...>
auto batched_dot(const T&...) {
  return refusals::refuse<multi_dots::for_batched_dot, T...>();
}

template <class... T>
auto batched_dot(...) {
  static_assert(refusals::never<T...>,
                "batched_dot takes an executor or none, two blocks of rows, then tally::exact or "
                "nothing; results, a pointer or memory of the sums' type, come after them and "
                "only where an executor comes first; batched_dot<R> has an R no narrower than "
                "the sums' own type");
  return 0.0;
}

template <class... T>
  requires refusals::refused<multi_dots::for_batched_dot, T...>
auto batched_dotc(const T&...) {
  return refusals::refuse<multi_dots::for_batched_dot, T...>();
}

template <class... T>
auto batched_dotc(...) {
  static_assert(refusals::never<T...>,
                "batched_dotc takes an executor or none, two blocks of rows, then tally::exact "
                "or nothing; results, a pointer or memory of the sums' type, come after them and "
                "only where an executor comes first; batched_dotc<R> has an R no narrower than "
                "the sums' own type");
  return 0.0;
}

// @endcond
}  // namespace tally
