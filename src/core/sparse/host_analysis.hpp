// What plans of the simd and openmp columns keep.
#pragma once

#include "src/core/sparse/pattern_runs.hpp"
#include "src/core/sparse/row_kernels.hpp"
#include "src/core/sparse/row_slices.hpp"
#include "src/core/table.hpp"

#include <optional>

namespace tally::backends {

/// Is what such a plan has found in a matrix.
struct host_analysis : spmv_analysis {
  pattern_lists patterns;            ///< those of the slices
  std::optional<row_slices> slices;  ///< where columns stay; then products take these

  /// Looks at the rows of a matrix for such products, which so many shares take, and describes
  /// them.
  host_analysis(const csr_operand& a, const planned_products& products, std::size_t shares);
};

/// Returns what a product's plan found; null where it has none, or its terms are not in order.
inline const host_analysis* analysis_of(const csr_product& a) {
  if (a.plan == nullptr || !is_plain(a)) return nullptr;
  return static_cast<const host_analysis*>(a.plan->analysis());
}

/// Returns a product's slices of values of type W; null where its plan has none. (Without a promise
/// of values a product may have others than the plan was made of.)
template <class W>
const row_slices* slices_of(const csr_product& a) {
  const host_analysis* const analysis = analysis_of(a);
  if (analysis == nullptr || !analysis->slices || a.a.values.element != type_of<W>) return nullptr;
  return analysis->slices->slice == rows_of_slice<W> ? &*analysis->slices : nullptr;
}

}  // namespace tally::backends
