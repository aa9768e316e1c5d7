#pragma once

#include "backends/exact_sums.hpp"

namespace tally::backends::serial {

void exact(const executor& where, const exact_arguments& arguments);

/// The terms one by one.
exact_node add_exact;

}  // namespace tally::backends::serial
