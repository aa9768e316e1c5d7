// Whether a vector that is written shares memory with one that is read.
#pragma once

#include <tally/operand.hpp>

#include "src/check.hpp"

namespace tally {

/// z may be x: the same address, and as many bytes from one element to the next. Otherwise it must
/// share no byte with it. Both have as many elements.
/// @throws error overlap.
void check_overlap(const check& check, const char* x_name, const operand& x, const char* z_name,
                   const operand& z);

}  // namespace tally
