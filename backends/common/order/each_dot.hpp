// Batches of dot products or exact sums, one by one.
#pragma once

#include "backends/backend.hpp"

#include <span>

namespace tally::backends {

inline dot_arguments dot_of_pair(const multi_dot_arguments& a, std::size_t j) {
  const auto [x, y] = a.pairs[j];
  output result = a.results;
  result.data = static_cast<std::byte*>(a.results.data) + j * bytes_of(a.results);
  return {x, y, a.conjugated, result, a.options};
}

inline bool wants_exact(const multi_dot_arguments& a) { return is_exact(a.options, a.results); }

template <auto& exact>
void each_exact(const executor& where, std::span<const exact_arguments> all) {
  for (const exact_arguments& one : all) exact(where, one);
}

template <auto& dot, auto& exact>
void each_dot(const executor& where, const multi_dot_arguments& a) {
  for (std::size_t j = 0; j < a.pairs.size(); ++j) {
    const dot_arguments one = dot_of_pair(a, j);
    wants_exact(a) ? exact(where, exact_of(one)) : dot(where, one);
  }
}

}  // namespace tally::backends
