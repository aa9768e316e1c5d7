// HPCG's dot product, vector update and sparse product, as calls of Tally on one executor.
#pragma once

#include <tally/tally.hpp>

#include <cstdint>

namespace example {

/// Sets the executor of later operations, which must reach host memory.
void begin_run(const tally::executor& where);

/// Returns a hash of the bits of all products, updates and sums.
std::uint64_t end_run();

}  // namespace example
