// Whether two vectors share memory.
#pragma once

#include <tally/operand.hpp>

#include "src/check.hpp"

namespace tally {

/// Whether they may share a byte.
bool overlap(const operand& x, const operand& z);

/// z may be x: the same address, and as many bytes from one element to the next. Otherwise it must
/// share no byte with it. Both have as many elements.
/// @throws error overlap.
void check_overlap(const check& check, const char* x_name, const operand& x, const char* z_name,
                   const operand& z);

}  // namespace tally
