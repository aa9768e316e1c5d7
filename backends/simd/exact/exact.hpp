#pragma once

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/sparse/exact_rows.hpp"

namespace tally::backends::simd {

/// Returns the `exact_node` of an instruction set.
exact_node* exact_node_of(instruction_set set);

exact_row_kernels exact_row_kernels_of(instruction_set set);

}  // namespace tally::backends::simd
