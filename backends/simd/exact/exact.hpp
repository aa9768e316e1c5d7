#pragma once

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/sparse/exact_rows.hpp"

namespace tally::backends::simd {

/// Returns the `exact_node` of an instruction set.
exact_node* exact_node_of(instruction_set set);

/// Returns the instruction set for a sum: of doubles `for_cached`'s (tuning/exact.md:
/// set_for_exact).
instruction_set set_for_exact(const executor& where, const exact_arguments& a);

exact_row_kernels exact_row_kernels_of(instruction_set set);

}  // namespace tally::backends::simd
