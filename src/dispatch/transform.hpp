// What the public element-wise functions share with those that add a sum to them (fused.cpp).
#pragma once

#include <tally/transform.hpp>

#include "src/dispatch/check.hpp"

namespace tally {

/// Returns what messages call the vector that a function writes.
const char* name_of_output(elementwise what);

/// Throws what is wrong with the arguments, if anything is, but for where they are.
void check_arguments(const check& check, const transform_arguments& a);

/// Throws unless the executor reaches all vectors.
void check_reach(const check& check, const executor& where, const transform_arguments& a);

/// Is what a backend is asked for (backend::transform).
struct reduced_transform {
  transform_arguments arguments;
  type computation;
};

/// Returns the same with fewer functions, and of them as few complex ones as may be. A vector whose
/// factor is 0 and that is only updated is left out.
reduced_transform reduced(const transform_arguments& a);

}  // namespace tally
