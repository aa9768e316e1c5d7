#pragma once

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/sparse/exact_rows.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

namespace tally::backends::simd {

/// Sums of some terms by an instruction set.
struct exact_kernels {
  exact_node* node;
  /// Writes the rounded sum of contiguous real floats or doubles. Returns false for others, and if
  /// words are requested.
  bool (*write_in_place)(const exact_arguments& a);
};

const exact_kernels& product_kernels_of(instruction_set set);  ///< products, squares and weighted
const exact_kernels& value_kernels_of(instruction_set set);    ///< values and magnitudes
const exact_kernels& exact_kernels_of(instruction_set set, exact_term term);

inline void write_exact(const exact_arguments& a, const exact_kernels& kernels) {
  if (kernels.write_in_place(a)) return;
  exact_sums sums;
  kernels.node(a, sums);
  write_result(sums, a);
}

/// Returns the instruction set for a sum: of doubles `for_cached`'s (tuning/exact.md:
/// set_for_exact).
inline instruction_set set_for_exact(const executor& where, const exact_arguments& a) {
  if (a.x.element != type::float64) return where.instructions();
  return for_cached(where, (a.has_y() ? 2 : 1) * a.x.size * sizeof(double));
}

exact_row_kernels exact_row_kernels_of(instruction_set set);

}  // namespace tally::backends::simd
