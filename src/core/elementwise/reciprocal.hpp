// The reciprocal of a float on a device, from what its own instruction approximates.
#pragma once

#include "src/core/elementwise/exponential.hpp"

namespace tally::backends {

/// Returns 1/d for d in [1, 2], rounded to nearest even, by one of Newton's steps from a q that is
/// off by at most a unit in the last place. q is raised to the least number above 1/2: for the
/// largest d below 2 the step from 1/2 would end half way, and for 2 itself the step comes back.
/// (tests/exponential.cpp goes through all d and q. `rounded_reciprocal` allows 4 units, for a step
/// and two instructions more.)
TALLY_HOST_DEVICE inline float reciprocal_from_a_unit(float d, float q) {
  q = std::fmax(q, 0x1.000002p-1f);
  return std::fma(q, std::fma(-d, q, 1.0f), q);
}

}  // namespace tally::backends
