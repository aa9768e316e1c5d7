#pragma once

#include "src/core/exact/exact_sums.hpp"

namespace tally::backends::simd {

/// Returns the `exact_node` of one instruction set.
exact_node* exact_node_of(instruction_set set);

}  // namespace tally::backends::simd
