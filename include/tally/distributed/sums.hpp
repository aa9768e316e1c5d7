// Sums over ranks that return the results: dot, sum, asum, nrm2, multi_dot and sums. Other forms,
// and costs: <tally/mpi/sums.hpp> and <tally/nccl/sums.hpp>. Promise: the bits of the function of
// that name for the whole vectors in one process, on every rank, whatever the partition and the
// executors. In the default grade the order is the layout's; with `tally::exact` it does not
// matter, and a communicator suffices.
#pragma once

#include <tally/distributed/transport.hpp>
#include <tally/operations/multi_dot.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally::detail {

/// @throws error size_mismatch, beginning with `caller`.
inline void check_size(const char* caller, const operand& v, std::size_t size) {
  if (v.size == size) return;
  throw error(errc::size_mismatch,
              std::string(caller) + ": a vector has " + std::to_string(v.size) +
                  " elements, this rank's part of the layout has " + std::to_string(size));
}

/// Equal terms, types and conjugation.
struct field_sums {
  summand what = summand::product;
  conjugate conjugated = conjugate::none;
  type result = type::float64;
  std::vector<interval_field> fields;  ///< this rank's parts of the vectors
  /// Result of squared products in the exact grade, where that is the root.
  weighted_norm norm = weighted_norm::squares;

  /// Whether exact sums' roots are the results.
  bool has_roots() const noexcept { return what == summand::square || norm == weighted_norm::root; }

  /// Accumulator of the default grade: complex if an operand is.
  type accumulator() const noexcept {
    const bool has_parts = !fields.empty() && is_complex(fields[0].x.element);
    return has_parts ? complex_of(part_of(result)) : result;
  }
  /// Format of messages, for a whole vector of `total` elements.
  interval_shape shape(std::int64_t total) const noexcept {
    return {what, accumulator(), fields.size(), total};
  }
  /// Pre: at least one field.
  type exact_sum() const noexcept {
    const interval_field& f = fields[0];
    if (f.squared) return result;
    const operand& y = what == summand::product ? f.y : f.x;
    return exact_sum_type(f.x.element, y.element, result);
  }
  /// @throws error size_mismatch.
  void check_size(const char* caller, std::size_t size) const {
    for (const interval_field& field : fields) {
      detail::check_size(caller, field.x, size);
      if (what == summand::product) detail::check_size(caller, field.y, size);
      if (field.mask) detail::check_size(caller, *field.mask, size);
    }
  }
  /// Sums this rank's part of field j.
  void sum_field(const executor& where, std::size_t j, const output& to,
                 const call_options& options) const {
    const interval_field& f = fields[j];
    if (what == summand::product) {
      dot(where, dot_arguments{f.x, f.y, conjugated, to, options});
    } else {
      const reduction of = what == summand::value       ? reduction::sum
                           : what == summand::magnitude ? reduction::asum
                                                        : reduction::nrm2;
      reduce(where, {f.x, of, to, options});
    }
  }
};

/// The same, with the results' type: R, or a vector of several.
template <class R>
struct typed_sums : field_sums {};

// Arguments of sums with accumulator R, or by default void. See <tally/operations/dot.hpp> and
// others.

template <class Y, class R, class X>
concept dot_factor = vector_operand<X> && vector_operand<Y> && has_dot<R, X, Y>;
template <class Y, class R, class X>
concept row_factor = rows_operand<X> && vector_operand<Y> && has_rows_dot<R, X, Y>;
template <class X, class R>
concept summed_rows = rows_operand<X> && summable<sums_of_rows<X>, R>;
template <class L, class R>
concept pair_list = pair_range<L> && has_list_dot<R, L>;
template <class X, class R, reduction what>
concept summed = has_reduction<what, R, X>;

/// `dot`.
template <class R, class X, class Y>
auto products(const X& x, const Y& y, conjugate conjugated) {
  using T = dot_accumulator_t<R, X, Y>;
  const interval_field field = {summand::product, as_operand(x), as_operand(y)};
  return typed_sums<T>{{summand::product, conjugated, type_of<T>, {field}}};
}

/// `sum`, `asum` or `nrm2`.
template <reduction what, class R, class X>
auto elements(const X& x) {
  using T = reduction_result_t<what, R, X>;
  constexpr summand terms = what == reduction::sum    ? summand::value
                            : what == reduction::asum ? summand::magnitude
                                                      : summand::square;
  return typed_sums<T>{{terms, conjugate::none, type_of<T>, {{terms, as_operand(x)}}}};
}

/// `weighted_sum_of_squares`, maybe with a mask.
template <class R, class X, class W, class... M>
auto weighted_squares(const X& x, const W& w, const M&... mask) {
  using T = sum_t<weighted_sum<X, W>, R>;
  const interval_field field = {
      summand::product, as_operand(x), as_operand(w), true, {as_operand(mask)...}};
  return typed_sums<T>{{summand::product, conjugate::none, type_of<T>, {field}}};
}

/// `multi_dot` of rows and a vector.
template <class R, class X, class Y>
auto pairs(const X& x, const Y& y, conjugate conjugated) {
  using T = sum_t<rows_sum<X, Y>, R>;
  typed_sums<std::vector<T>> all{{summand::product, conjugated, type_of<T>, {}}};
  const dot_pairs each = against_one(x, y);
  for (std::size_t j = 0; j < each.size(); ++j) {
    all.fields.push_back({summand::product, each[j].x, each[j].y});
  }
  return all;
}

/// The same of a list.
template <class R, class L>
auto pairs(const L& list, conjugate conjugated) {
  using T = sum_t<list_sum<L>, R>;
  typed_sums<std::vector<T>> all{{summand::product, conjugated, type_of<T>, {}}};
  for (const operand_pair& pair : erased(list)) {
    all.fields.push_back({summand::product, pair.x, pair.y});
  }
  return all;
}

/// Sums of a range of vectors.
template <class R, class L>
auto each(const L& vectors) {
  using V = std::remove_cvref_t<std::ranges::range_reference_t<const L>>;
  using T = reduction_result_t<reduction::sum, R, V>;
  typed_sums<std::vector<T>> all{{summand::value, conjugate::none, type_of<T>, {}}};
  for (const auto& v : vectors) all.fields.push_back({summand::value, as_operand(v)});
  return all;
}

/// Sums of rows.
template <class R, rows_operand X>
auto each_row(const X& x) {
  using T = sum_t<sums_of_rows<X>, R>;
  typed_sums<std::vector<T>> all{{summand::value, conjugate::none, type_of<T>, {}}};
  const operand_rows rows = as_rows(x);
  for (std::size_t j = 0; j < rows.rows; ++j) all.fields.push_back({summand::value, rows[j]});
  return all;
}

/// Returns R, or a vector of `count` results, which `write(results, bytes)` fills in.
template <class R, class Write>
R filled(std::size_t count, const Write& write) {
  if constexpr (requires(R all) { all.resize(count); }) {
    R results(count);
    write(results.data(), count * sizeof(typename R::value_type));
    return results;
  } else {
    R result;
    write(&result, sizeof result);
    return result;
  }
}

template <class R, class C>
R returned(const C& over, const executor& where, typed_sums<R> all, distributed::grade_over<C> g) {
  return filled<R>(all.fields.size(), [&](void* results, std::size_t bytes) {
    transport<C>::sum(over, where, std::move(all), g, results, bytes);
  });
}

/// Real vectors, of weighted norms.
template <class V>
concept weighted_factor = vector_operand<V> && !is_complex_v<element_t<V>>;

/// A norm of `total` elements.
template <weighted_norm what, class C, class R, class G>
R returned_norm(const C& over, const executor& where, typed_sums<R> all, G g, std::int64_t total) {
  const bool is_exact = !requires { g.is_exact(); } || grade(g).is_exact();
  if (is_exact) all.norm = what;
  R result = returned(over, where, std::move(all), g);
  if (!is_exact || what != weighted_norm::root) {
    finish_weighted_norm(what, total, {&result, type_of<R>});
  }
  return result;
}

}  // namespace tally::detail

namespace tally::distributed {

/// A range of vectors of one type: `std::array{std::span(t), std::span(s)}`.
template <class L>
concept fields = std::ranges::forward_range<const L> &&
                 vector_operand<std::remove_cvref_t<std::ranges::range_reference_t<const L>>>;

/// Options of dot products over a communicator: `tally::exact` or
/// `{tally::conjugate::x, tally::exact}`.
struct exact_dot_options {
  conjugate conjugated = conjugate::none;  ///< the conjugated vector
  explicit_exact grade;                    ///< exact

  /// The exact grade.
  constexpr exact_dot_options(exact_grade g) noexcept : grade(g) {}
  /// A conjugated vector, and the exact grade.
  constexpr exact_dot_options(conjugate vector, exact_grade g) noexcept
      : conjugated(vector), grade(g) {}
  /// Fails to compile.
  template <std::same_as<explicit_exact> Exact = explicit_exact>
  constexpr exact_dot_options(conjugate = conjugate::none, Exact g = {}) noexcept : grade(g) {}
};

/// Options of dot products over a layout or a communicator.
template <ranks C>
using dot_options_over = std::conditional_t<layout<C>, dot_options, exact_dot_options>;

/// r = sum_i x_i * y_i over all elements of all ranks, complex vectors unconjugated; with
/// `conjugate::x` sum_i conj(x_i) * y_i.
///
/// @param over  a layout; with `tally::exact` also a communicator.
/// @param where, x, y  this rank's executor and parts, as for `tally::dot`.
/// @param how   conjugation and grade, as for `tally::dot`.
/// @tparam R    accumulator and result, as for `tally::dot`.
/// @return      r, on all ranks. Blocks.
/// @throws error see the transport's header.
template <class R = void, ranks C, vector_operand X, detail::dot_factor<R, X> Y>
auto dot(const C& over, const executor& where, const X& x, const Y& y,
         dot_options_over<C> how = {}) {
  return detail::returned(over, where, detail::products<R>(x, y, how.conjugated), how.grade);
}

/// r = sum_i x_i over all elements of all ranks; parameters as for `dot`.
/// @param g     `tally::exact` for the correctly rounded value.
template <class R = void, ranks C, detail::summed<R, reduction::sum> X>
auto sum(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::elements<reduction::sum, R>(x), g);
}

/// r = sum_i |x_i|, complex elements as |re x_i| + |im x_i|. Real.
template <class R = void, ranks C, detail::summed<R, reduction::asum> X>
auto asum(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::elements<reduction::asum, R>(x), g);
}

/// r = sqrt(sum_i |x_i|^2), the root correctly rounded. Real.
template <class R = void, ranks C, detail::summed<R, reduction::nrm2> X>
auto nrm2(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::elements<reduction::nrm2, R>(x), g);
}

/// r = sum_i x_i^2 of real numbers.
template <class R = void, ranks C, detail::summed<R, reduction::sum> X>
  requires(!is_complex_v<element_t<X>>)
auto sum_of_squares(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::products<R>(x, x, conjugate::none), g);
}

/// r = sum_i (x_i*w_i)^2, as `tally::weighted_sum_of_squares`; parameters as for `dot`.
template <class R = void, ranks C, detail::weighted_factor X, detail::weighted_factor W>
auto weighted_sum_of_squares(const C& over, const executor& where, const X& x, const W& w,
                             grade_over<C> g = {}) {
  return detail::returned(over, where, detail::weighted_squares<R>(x, w), g);
}

/// r = sqrt(sum_i (x_i*w_i)^2), as `tally::weighted_nrm2`.
template <class R = void, ranks C, detail::weighted_factor X, detail::weighted_factor W>
auto weighted_nrm2(const C& over, const executor& where, const X& x, const W& w,
                   grade_over<C> g = {}) {
  return detail::returned_norm<weighted_norm::root>(over, where, detail::weighted_squares<R>(x, w),
                                                    g, 0);
}

/// r = sqrt(sum_i (x_i*w_i)^2 / n), n the elements of all ranks, as `tally::wrms_norm`.
template <class R = void, layout L, detail::weighted_factor X, detail::weighted_factor W>
auto wrms_norm(const L& over, const executor& where, const X& x, const W& w, grade g = {}) {
  return detail::returned_norm<weighted_norm::root_mean>(
      over, where, detail::weighted_squares<R>(x, w), g, over.total());
}

/// The same of the terms with a positive m_i, as `tally::wrms_norm_mask`.
template <class R = void, layout L, detail::weighted_factor X, detail::weighted_factor W,
          detail::weighted_factor M>
auto wrms_norm_mask(const L& over, const executor& where, const X& x, const W& w, const M& m,
                    grade g = {}) {
  return detail::returned_norm<weighted_norm::root_mean>(
      over, where, detail::weighted_squares<R>(x, w, m), g, over.total());
}

/// r_j = sum_i x_ji * y_i, j = 0 ... k-1, in one message.
///
/// @param x  this rank's part of k rows: `tally::rows`, or a `Kokkos::View` or `std::mdspan`, of
/// any
///           layout.
/// @return   the k results, on all ranks. Blocks.
template <class R = void, ranks C, rows_operand X, detail::row_factor<R, X> Y>
auto multi_dot(const C& over, const executor& where, const X& x, const Y& y,
               dot_options_over<C> how = {}) {
  return detail::returned(over, where, detail::pairs<R>(x, y, how.conjugated), how.grade);
}

/// `multi_dot` of a list of pairs, `std::array{tally::pair_of(x, y), ...}`, all of the layout's
/// size.
template <class R = void, ranks C, detail::pair_list<R> L>
auto multi_dot(const C& over, const executor& where, const L& list, dot_options_over<C> how = {}) {
  return detail::returned(over, where, detail::pairs<R>(list, how.conjugated), how.grade);
}

/// r_j = sum of field j over all ranks, in one message:
/// `tally::mpi::sums(l, where, std::array{std::span(heat), std::span(salt)})`.
/// @return on all ranks. Blocks.
template <class R = void, ranks C, fields L>
auto sums(const C& over, const executor& where, const L& vectors, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::each<R>(vectors), g);
}

/// The same of rows, of which each rank has a part: the sums along an axis that lies over ranks.
/// Those of columns of a row-major matrix whose rows lie over ranks, k columns, are
/// `sums(l, where, tally::rows(a, k, l.size(), 1, k))`.
///
/// @param x  this rank's part of k vectors (`rows_operand`), of any layout.
/// @return   the k results, on all ranks. Blocks.
template <class R = void, ranks C, detail::summed_rows<R> X>
auto sums(const C& over, const executor& where, const X& x, grade_over<C> g = {}) {
  return detail::returned(over, where, detail::each_row<R>(x), g);
}

}  // namespace tally::distributed
