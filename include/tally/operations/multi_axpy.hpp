// Updates of one vector by several, as in Krylov solvers:
//
//   multi_axpy      y = beta*y + sum_j alpha_j*x_j: k calls of `axpy` in one pass
//   multi_axpy_dot  the same, and r_j = sum_i x_ji*y_i of the new y: a step of CGS2
//
// Promise: y has the bits of axpby(alpha_0, x_0, beta, y) and then axpy(alpha_j, x_j, y), j = 1 ...
// k-1 (<tally/operations/transform.hpp>), so each step is rounded to y's type; r has the bits of
// `multi_dot`. On simd and openmp y is read and written once, on CUDA once per 32 vectors. For
// multi_axpy_dot simd and openmp read x from memory once; the exact grade and other backends make
// two calls.
#pragma once

#include <tally/export.h>
#include <tally/detail/arguments.hpp>
#include <tally/detail/elementwise_call.hpp>
#include <tally/detail/sums.hpp>
#include <tally/executor.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/multi_dot.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace tally {

/// A list of vectors of one type, or if that is empty, rows.
struct operand_list {
  operand_rows rows;                   ///< row j is vector j
  std::span<const operand> list = {};  ///< all of the first one's type

  /// Number of vectors.
  std::size_t size() const noexcept { return list.empty() ? rows.rows : list.size(); }
  /// Element type.
  type element() const noexcept { return list.empty() ? rows.first.element : list[0].element; }
  /// Vector j.
  operand operator[](std::size_t j) const noexcept { return list.empty() ? rows[j] : list[j]; }
};

/// Arguments with types erased.
struct multi_axpy_arguments {
  operand alpha;     ///< a factor of each vector
  operand_list x;    ///< k vectors
  scalar beta = 1;   ///< factor of y
  output_operand y;  ///< updated
};

/// multi_axpy with types erased.
TALLY_EXPORT void multi_axpy(const executor& where, const multi_axpy_arguments& arguments);

/// Arguments with types erased; result j lies j elements after `results.data`.
struct multi_axpy_dot_arguments {
  multi_axpy_arguments update;             ///< y is written
  conjugate conjugated = conjugate::none;  ///< of each product: x is x_j, y is y
  output results;                          ///< the first of them; no words
  call_options options = {};               ///< the sums' grade; whether to wait
};

/// multi_axpy_dot with types erased.
TALLY_EXPORT void multi_axpy_dot(const executor& where, const multi_axpy_dot_arguments& arguments);

namespace detail {

/// A range of vectors of one type.
template <class L>
concept operand_range = std::ranges::forward_range<const L> &&
                        vector_operand<std::ranges::range_value_t<const L>> && !rows_operand<L>;

template <class B>
struct listed_element {};
template <rows_operand B>
struct listed_element<B> {
  using type = row_t<B>;
};
template <operand_range L>
struct listed_element<L> {
  using type = element_t<std::ranges::range_value_t<const L>>;
};

/// `call(arguments)` of valid operands.
template <class A, class X, class B, class Y, class Call>
auto with_multi_axpy(const A& alpha, const X& x, const B& beta, Y& y, const Call& call) {
  if constexpr (rows_operand<X>) {
    return call(multi_axpy_arguments{as_operand(alpha), {as_rows(x)}, beta, as_output(y)});
  } else {
    std::vector<operand> list;
    for (const auto& each : x) list.push_back(as_operand(each));
    constexpr type element = type_of<typename listed_element<X>::type>;
    const operand_rows none = {{nullptr, 0, 1, element}};
    return call(multi_axpy_arguments{as_operand(alpha), {none, list}, beta, as_output(y)});
  }
}

template <class X, class Y>
using multi_axpy_dot_sum =
    product_sum<typename listed_element<std::remove_cv_t<X>>::type, element_t<Y>>;

struct multi_axpy_call : call<void, multi_axpy_arguments> {
  template <class A, class X, class B, class Y>
  static consteval wrong of() {
    using list = std::remove_cv_t<X>;
    if constexpr (!rows_operand<list> && !operand_range<list>) {
      return wrong_rows<list>;
    } else {
      constexpr wrong why = first_wrong<wrong_vector<A>, wrong_factor<B>>;
      if constexpr (why == wrong::nothing) {
        using vectors = std::span<const typename listed_element<list>::type>;
        return wrong_transform<elementwise::axpby, vectors, Y, vectors, Y, element_t<A>, B>();
      } else {
        return why;
      }
    }
  }
};
struct multi_axpy_dot_call
    : sum_call<multi_axpy_dot_call, void, dot_options, multi_axpy_dot_arguments> {
  template <class A, class X, class B, class Y>
  static consteval wrong of() {
    return multi_axpy_call::of<A, X, B, Y>();
  }
  template <class A, class X, class B, class Y>
  using sum = multi_axpy_dot_sum<X, Y>;
};

}  // namespace detail

/// y_i = beta*y_i + alpha_0*x_0i + ... + alpha_(k-1)*x_(k-1)i, in this order; without vectors y_i =
/// beta*y_i. y is not read where beta is 0. Doesn't block, as `axpby`.
///
/// @param alpha  k factors (`vector_operand`). Factors in host memory alone are read by the call;
///               those that a device reaches are read there, when it runs.
/// @param x      k rows of n elements (`rows_operand`), or a range of vectors of n elements.
/// @param y      n elements, which share no memory with alpha or x.
/// @throws error as `axpby`; size_mismatch, invalid_argument (too many rows), overlap,
///               out_of_memory.
template <class A, class X, class B, class Y>
  requires detail::taken<detail::multi_axpy_call, A, X, B, Y>
void multi_axpy(const executor& where, const A& alpha, const X& x, const B& beta, Y&& y) {
  detail::with_multi_axpy(alpha, x, beta, y,
                          [&](const multi_axpy_arguments& a) { multi_axpy(where, a); });
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::multi_axpy_call, T...>
void multi_axpy(T&&... arguments) {
  multi_axpy(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::multi_axpy_call, T...>>
  requires detail::refused<why, T...>
void multi_axpy(T&&...) = delete;  // [where,] alpha, x, beta, y

/// y as by multi_axpy; returns r_j = sum_i x_ji*y_i, j = 0 ... k-1. In the second step of CGS2
/// alpha is -r of the first, and r the correction. Blocks.
///
/// @param alpha, x, beta, y  as for multi_axpy.
/// @param how    as of `multi_dot`: `conjugate::x` for sum_i conj(x_ji)*y_i, and the grade.
/// @return       the k results.
/// @throws error as multi_axpy and multi_dot, before anything is written.
template <class A, class X, class B, class Y>
  requires detail::taken<detail::multi_axpy_dot_call, A, X, B, Y>
auto multi_axpy_dot(const executor& where, const A& alpha, const X& x, const B& beta, Y&& y,
                    dot_options how = {}) {
  return detail::with_multi_axpy(alpha, x, beta, y, [&](const multi_axpy_arguments& a) {
    return detail::returned_sums<detail::multi_axpy_dot_sum<X, Y>, void>(
        a.x.size(), how.grade, [&](const output& to, const call_options& options) {
          multi_axpy_dot(where, {a, how.conjugated, to, options});
        });
  });
}

/// results[j] = the same, not exact sums. Doesn't block.
/// @param results destination of k numbers (`result_place`), which share no memory with alpha, x
///               or y.
template <class A, class X, class B, class Y, class R>
  requires detail::written<detail::multi_axpy_dot_call, A, X, B, Y, R>
void multi_axpy_dot(const executor& where, const A& alpha, const X& x, const B& beta, Y&& y,
                    R&& results, dot_options how = {}) {
  detail::with_multi_axpy(alpha, x, beta, y, [&](const multi_axpy_arguments& a) {
    detail::written_sums<detail::multi_axpy_dot_sum<X, Y>>(
        "tally::multi_axpy_dot", a.x.size(), results, how.grade,
        [&](const output& to, const call_options& options) {
          multi_axpy_dot(where, {a, how.conjugated, to, options});
        });
  });
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::multi_axpy_dot_call, T...>
auto multi_axpy_dot(T&&... arguments) {
  return multi_axpy_dot(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::multi_axpy_dot_call, T...>>
  requires detail::refused<why, T...>
void multi_axpy_dot(T&&...) = delete;  // [where,] alpha, x, beta, y[, options]; where, ..., results

}  // namespace tally
