#pragma once

#include "src/core/exact/exact_sums.hpp"

namespace tally::backends::simd {

/// The `exact_node` in one instruction set.
exact_node* exact_node_of(instruction_set set);

}  // namespace tally::backends::simd
