// Plans of the simd and openmp backends.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/pattern_runs.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/common/sparse/row_slices.hpp"

#include <optional>

namespace tally::backends {

struct host_analysis : spmv_analysis {
  pattern_lists patterns;            ///< of the slices
  std::optional<row_slices> slices;  ///< if columns are fixed

  host_analysis(const csr_operand& a, const planned_products& products, std::size_t shares);
};

/// Null without a plan, or if terms are not in order.
inline const host_analysis* analysis_of(const csr_product& a) {
  if (a.plan == nullptr || !is_plain(a)) return nullptr;
  return static_cast<const host_analysis*>(a.plan->analysis());
}

/// Null without slices of W. (Unless values are fixed, their type may differ from the plan's.)
template <class W>
const row_slices* slices_of(const csr_product& a) {
  const host_analysis* const analysis = analysis_of(a);
  if (analysis == nullptr || !analysis->slices || a.a.values.element != type_of<W>) return nullptr;
  return analysis->slices->slice == rows_of_slice<W> ? &*analysis->slices : nullptr;
}

}  // namespace tally::backends
