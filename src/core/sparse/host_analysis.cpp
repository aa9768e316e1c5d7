#include "src/core/sparse/host_analysis.hpp"

#include "src/core/sparse/row_lengths.hpp"

#include <limits>

namespace tally::backends {
namespace {

/// Whether values can be kept as slices.
bool can_be_sliced(const csr_operand& a) {
  return is_in<type_list<float, double>>(a.values.element) &&
         a.columns <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

host_analysis::host_analysis(const csr_operand& a, const planned_products& products) {
  description = describe(lengths_of_rows(a));
  if (!products.fixed_columns || products.has_places || a.row_ends) return;
  runs.emplace(a);
  if (products.fixed_values && can_be_sliced(a)) {
    slices.emplace(a, *runs);
    description += "; " + slices->describe();
  } else if (runs->are_most()) {  // else products would go from one kind of rows to the other
    description += "; " + runs->describe();
  } else {
    runs.reset();
  }
}

}  // namespace tally::backends
