// Several dot products are computed here one after another.
#pragma once

#include "src/core/table.hpp"

namespace tally::backends {

/// Returns pair j as the arguments of `dot`.
inline dot_arguments dot_of_pair(const multi_dot_arguments& a, std::size_t j) {
  const auto [x, y] = a.pairs[j];
  auto* const results = static_cast<std::byte*>(a.results.data);
  return {
      x,      y,      a.conjugated, {results + j * size_of(a.results.element), a.results.element},
      a.wait, a.exact};
}

/// Says whether the pairs go to the exact grade. That is a row of its own in the table, and
/// integers are exact in any grade.
inline bool wants_exact(const multi_dot_arguments& a) {
  return a.exact && a.results.element != type::int64;
}

inline exact_arguments as_exact(const dot_arguments& a) {
  return {exact_term::product, a.x, a.y, a.conjugated, a.result, a.wait};
}

/// Computes each pair by a column's own functions for one.
template <auto& dot, auto& exact>
void each_dot(const executor& where, const multi_dot_arguments& a) {
  for (std::size_t j = 0; j < a.pairs.size(); ++j) {
    const dot_arguments one = dot_of_pair(a, j);
    wants_exact(a) ? exact(where, as_exact(one)) : dot(where, one);
  }
}

}  // namespace tally::backends
