#include "backends/common/sparse/host_analysis.hpp"

#include "backends/common/sparse/row_lengths.hpp"

#include <limits>

namespace tally::backends {
namespace {

/// Minimum terms for slices with values in place (tuning/spmv.md: host_analysis min_terms).
constexpr std::size_t min_terms = 512;

bool has_slices(const csr_operand& a, bool copies) {
  return is_in<type_list<float, double>>(a.values.element) &&
         a.columns <= std::numeric_limits<std::int32_t>::max() &&
         (copies || a.nonzeros() >= min_terms);
}

}  // namespace

host_analysis::host_analysis(const csr_operand& a, const planned_products& products,
                             std::size_t shares) {
  description = describe(lengths_of_rows(a));
  if (!products.fixed_columns || products.is_permuted || a.row_ends) return;
  if (!has_slices(a, products.fixed_values)) return;
  slices.emplace(a, pattern_ranges(a, patterns), products.fixed_values, shares);
  description += "; " + slices->describe();
}

}  // namespace tally::backends
