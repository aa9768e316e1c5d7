// Plans of the simd and openmp backends.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/simd/spmv/scattered/scattered.hpp"
#include "backends/simd/spmv/slices/slices.hpp"

#include <optional>
#include <variant>

namespace tally::backends::simd {

struct host_analysis : spmv_analysis {
  std::optional<row_slices> slices;  ///< if columns are fixed

  host_analysis(const csr_operand& a, const planned_products& products, std::size_t shares);
};

/// Null without a plan with slices, or if terms are not in order.
inline const row_slices* slices_of(const csr_product& a) {
  if (a.plan == nullptr || a.a.row_ends) return nullptr;
  if (a.is_permuted()) {
    const auto& transpose = static_cast<const scattered_transpose&>(*a.plan->transpose());
    return transpose.slices ? &*transpose.slices : nullptr;
  }
  const auto* const analysis = static_cast<const host_analysis*>(a.plan->analysis());
  return analysis != nullptr && analysis->slices ? &*analysis->slices : nullptr;
}

/// Null without slices of W. (Unless values are fixed, their type may differ from the plan's.)
template <class W>
const row_slices* slices_of(const csr_product& a) {
  const row_slices* const slices = slices_of(a);
  const bool is_of_type = slices != nullptr && a.a.values.element == type_of<W> &&
                          std::holds_alternative<lines<W>>(slices->values);
  return is_of_type ? slices : nullptr;
}

}  // namespace tally::backends::simd
