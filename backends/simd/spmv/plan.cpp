#include "backends/simd/spmv/plan.hpp"

#include "backends/common/sparse/csr.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace tally::backends::simd {
namespace {

/// Such as "1000 rows of 5.2 terms, at most 17, 3 of them empty".
std::string describe_rows(const csr_operand& a) {
  const row_bounds rows(a);
  std::size_t terms = 0, longest = 0, empty = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    const std::size_t n = rows.length(i);
    terms += n;
    longest = std::max(longest, n);
    empty += n == 0;
  }
  const std::size_t tenths = (10 * terms + a.rows / 2) / a.rows;
  std::string text = std::to_string(a.rows) + " rows of " + std::to_string(tenths / 10) + "." +
                     std::to_string(tenths % 10) + " terms, at most " + std::to_string(longest);
  if (empty > 0) text += ", " + std::to_string(empty) + " of them empty";
  return text;
}

/// Minimum terms for slices with values in place (tuning/spmv.md: host_analysis min_terms).
constexpr std::size_t min_terms = 512;

bool has_slices(const csr_operand& a, const planned_products& products) {
  return products.fixed_columns && !products.is_permuted && !a.row_ends &&
         is_in<type_list<float, double>>(a.values.element) &&
         a.columns <= std::numeric_limits<std::int32_t>::max() &&
         (products.fixed_values || a.nonzeros() >= min_terms);
}

}  // namespace

host_analysis::host_analysis(const csr_operand& a, const planned_products& products,
                             std::size_t shares) {
  description = describe_rows(a);
  if (!has_slices(a, products)) return;
  slices.emplace(a, products.fixed_values, shares);
  description += "; " + slices->describe();
}

}  // namespace tally::backends::simd
