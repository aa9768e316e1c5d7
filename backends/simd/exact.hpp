#pragma once

#include "backends/exact_sums.hpp"

namespace tally::backends::simd {

void exact(const executor& where, const exact_arguments& arguments);

/// The `exact_node` in one instruction set.
exact_node* exact_node_of(instruction_set set);

}  // namespace tally::backends::simd
