// Interval sums by component: sums of real numbers. Terms are made on the host.
#pragma once

#include "backends/backend.hpp"

#include <vector>

namespace tally::backends {

/// Returns the re (0) or im (1) component; im of a real vector is empty.
operand component_of(const operand& v, int which);

/// Returns the real vectors whose products the nodes' components sum, in canonical order; empty
/// ones if it is +0.
std::vector<operand_pair> pairs_of(const interval_arguments& a);

/// Copies elements to contiguous host memory and waits.
using fetch_elements = void(const executor& where, const operand& x, void* to);

/// The part of `sum_interval` that concerns terms.
void write_interval_terms(fetch_elements& fetch, const executor& where,
                          const interval_arguments& a);

}  // namespace tally::backends
