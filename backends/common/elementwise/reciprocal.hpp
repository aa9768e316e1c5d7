// Reciprocal of a float on a device, from the approximate instruction.
#pragma once

#include "backends/common/elementwise/exponential.hpp"

namespace tally::backends {

/// Returns 1/d for d in [1, 2], rounded to nearest even, by one Newton step from q, off by at most
/// 1 ulp. q is raised above 1/2: for the largest d below 2 the step from 1/2 ends half way, and for
/// 2 itself the step comes back. (tests/exponential.cpp checks all d and q.)
TALLY_HOST_DEVICE inline float reciprocal_from_a_unit(float d, float q) {
  q = std::fmax(q, 0x1.000002p-1f);
  return std::fma(q, std::fma(-d, q, 1.0f), q);
}

}  // namespace tally::backends
