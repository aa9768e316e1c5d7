#pragma once

#include "backends/common/exact/exact_sums.hpp"

namespace tally::backends::serial {

/// Adds terms one by one.
exact_node add_exact;

}  // namespace tally::backends::serial
