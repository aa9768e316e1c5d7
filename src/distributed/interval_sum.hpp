// Shared by the sums over parts of a vector.
#pragma once

#include <tally/distributed/interval_sum.hpp>

#include "src/check.hpp"

#include <span>

namespace tally {

/// @throws error, as `sum_part`.
void check_shape(const check& check, const interval_shape& shape);

/// Checks the shape and the fields' terms, types, sizes and addresses.
/// @throws error, as `sum_part`.
void check_fields(const check& check, const interval_shape& shape,
                  std::span<const interval_field> fields, double scale = 1);

}  // namespace tally
