// The contract's order of summation in plain loops.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/common/order/tree.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace tally::backends::serial {

/// Converts an input to the accumulator's real type, rounded to nearest even.
template <class A, class T>
A convert(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<A>(static_cast<float>(value));
  } else {
    return static_cast<A>(value);
  }
}

/// Sums term(first) ... term(first + n - 1) in lanes, which fold in halves; or blocks of a term a
/// lane: of the n terms from i, `term(i, n)` returns a function of the lane.
template <class Sum, std::size_t lanes, class Term>
Sum sum_in_lanes(std::size_t first, std::size_t n, Term term) {
  std::array<Sum, lanes> lane{};
  if constexpr (std::is_invocable_v<Term, std::size_t, std::size_t>) {
    for (std::size_t i = 0; i < n; i += lanes) {
      const std::size_t count = std::min(lanes, n - i);
      const auto of_lane = term(first + i, count);
      for (std::size_t l = 0; l < count; ++l) lane[l] = lane[l] + of_lane(l);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) lane[i % lanes] = lane[i % lanes] + term(first + i);
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

template <class Sum, class Term>
Sum sum_chunk(std::size_t first, std::size_t n, Term term) {
  return sum_in_lanes<Sum, order::lanes>(first, n, term);
}

/// Sums term(0) ... term(n - 1).
template <class Sum, class Term>
Sum sum_in_order(std::size_t n, Term term) {
  tree<Sum> chunks;
  for (std::size_t first = 0; first < n; first += order::chunk) {
    chunks.add(sum_chunk<Sum>(first, std::min(order::chunk, n - first), term));
  }
  return chunks.total();
}

template <class Sum, class Term>
Sum sum_row(std::size_t n, Term term) {
  if (n > row_order::short_row) return sum_in_order<Sum>(n, term);
  return sum_in_lanes<Sum, row_order::lanes>(0, n, term);
}

}  // namespace tally::backends::serial
