#pragma once

#include "backends/backend.hpp"
#include "backends/common/extremum/rank.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

namespace tally::backends::simd {

/// Searches x, whose first element has index `first`.
/// @pre The default environment.
using extremum_search = candidates(const operand& x, std::size_t first);

/// Returns the instruction set for n elements (tuning/short_calls.md: set_for_extremum).
inline instruction_set set_for_extremum(const executor& where, type x, std::size_t n) {
  constexpr std::size_t up_to_bytes = std::size_t{4} << 20;
  return x == type::float64 ? for_cached(where, n * sizeof(double), up_to_bytes)
                            : where.instructions();
}

extremum_search* extremum_search_of(instruction_set set, extreme what, type x);

}  // namespace tally::backends::simd
