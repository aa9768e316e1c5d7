// What the sums over parts of a vector check alike.
#pragma once

#include <tally/interval_sum.hpp>

#include "src/dispatch/check.hpp"

#include <span>

namespace tally {

/// Checks a shape.
/// @throws error, as `sum_part`.
void check_shape(const check& check, const interval_shape& shape);

/// Checks a shape, and that the fields are of it: their terms, types, lengths and addresses.
/// @throws error, as `sum_part`.
void check_fields(const check& check, const interval_shape& shape,
                  std::span<const interval_field> fields, double scale = 1);

}  // namespace tally
