#pragma once

#include "backends/simd/instruction_set.hpp"
#include "src/core/extremum/rank.hpp"
#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Returns what is looked for in x, whose first element has index `first`. The environment must be
/// the default one (`default_environment`).
using extremum_search = candidates(const operand& x, std::size_t first);

/// Returns the instruction set for a search of n elements of this type. On one Zen 4 core `iamax`
/// of 1000, 10^4 and 10^6 doubles takes 71 ns, 0.75 and 80 us with AVX-512 and 109 ns, 0.79 and 79
/// us with AVX2; of 1000 floats 72 and 50 ns.
inline instruction_set set_for_extremum(const executor& where, type x, std::size_t n) {
  constexpr std::size_t up_to_bytes = std::size_t{4} << 20;
  return x == type::float64 ? for_cached(where, n * sizeof(double), up_to_bytes)
                            : where.instructions();
}

/// Returns the `extremum_search` for a type of elements, in one instruction set.
extremum_search* extremum_search_of(instruction_set set, extreme what, type x);

}  // namespace tally::backends::simd
