// The order contract in plain loops: the sum of n terms, one after another.
#pragma once

#include "backends/tree.hpp"

#include <tally/order.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace tally::backends::serial {

/// The input converted to the accumulator's real type, to nearest even.
template <class A, class T>
A convert(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<A>(static_cast<float>(value));
  } else {
    return static_cast<A>(value);
  }
}

/// The sum of one chunk: term(first) ... term(first + n - 1).
template <class Sum, class Term>
Sum sum_chunk(std::size_t first, std::size_t n, Term term) {
  std::array<Sum, order::lanes> lane{};
  for (std::size_t i = 0; i < n; ++i) {
    lane[i % order::lanes] = lane[i % order::lanes] + term(first + i);
  }
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

/// The sum of term(0) ... term(n - 1).
template <class Sum, class Term>
Sum sum_in_order(std::size_t n, Term term) {
  tree<Sum> chunks;
  for (std::size_t first = 0; first < n; first += order::chunk) {
    chunks.add(sum_chunk<Sum>(first, std::min(order::chunk, n - first), term));
  }
  return chunks.total();
}

}  // namespace tally::backends::serial
