// Interval sums by component, each a backend's sum of real numbers. Terms are made on the host.
#pragma once

#include "backends/backend.hpp"

#include <vector>

namespace tally::backends {

/// Returns the real vectors whose products the nodes' components sum, in canonical order; empty
/// ones if it is +0.
std::vector<operand_pair> pairs_of(const interval_arguments& a);

/// Copies elements to contiguous host memory and waits.
using fetch_elements = void(const executor& where, const operand& x, void* to);

/// `sum_interval` of the backend `sums`: products and squares in one call, others in one per
/// component. `on_host` sums terms in host memory.
void sum_interval_by_numbers(const backend& sums, const backend& on_host, fetch_elements& fetch,
                             const executor& where, const interval_arguments& a);

}  // namespace tally::backends
