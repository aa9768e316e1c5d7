// HPCG's dot product, vector update and sparse product, as calls of Tally on one executor.
#pragma once

#include <tally/tally.hpp>

#include <cstdint>

namespace example {

/// What HPCG computes from now on is computed on this executor, one that reaches host memory.
void begin_run(const tally::executor& where);

/// Ends the run, whose matrices are gone: a hash of the bits of all that its products, updates and
/// sums came to.
std::uint64_t end_run();

}  // namespace example
