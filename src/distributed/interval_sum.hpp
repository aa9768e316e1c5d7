// Shared by the sums over parts of a vector.
#pragma once

#include <tally/distributed/interval_sum.hpp>

#include "src/check.hpp"

namespace tally {

/// @throws error, as `sum_part`.
void check_shape(const check& check, const interval_shape& shape);

}  // namespace tally
