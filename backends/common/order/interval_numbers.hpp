// Interval sums by component: sums of real numbers.
#pragma once

#include "backends/backend.hpp"

#include <vector>

namespace tally::backends {

/// Returns the re (0) or im (1) component; im of a real vector is empty.
operand component_of(const operand& v, int which);

/// Returns the real vectors whose products the nodes' components sum, in canonical order; empty
/// ones if it is +0.
std::vector<operand_pair> pairs_of(const interval_arguments& a);

}  // namespace tally::backends
