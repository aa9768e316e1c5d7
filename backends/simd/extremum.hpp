#pragma once

#include "src/core/extremum/rank.hpp"
#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Returns what is looked for in x, whose first element has index `first`. The environment must be
/// the default one (`default_environment`).
using extremum_search = candidates(const operand& x, std::size_t first);

/// Returns the `extremum_search` for a type of elements, in one instruction set.
extremum_search* extremum_search_of(instruction_set set, extreme what, type x);

}  // namespace tally::backends::simd
