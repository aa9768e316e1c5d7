// Shared with fused.cpp and multi_axpy.cpp.
#pragma once

#include <tally/operations/elementwise.hpp>

#include "src/check.hpp"

namespace tally {

/// Does not check memory.
void check_arguments(const check& check, const transform_arguments& a);

void check_reach(const check& check, const executor& where, const transform_arguments& a);

/// A contiguous complex vector as real numbers.
template <class Vector>
Vector numbers_of(Vector v) {
  v.size *= 2;
  v.element = part_of(v.element);
  return v;
}

/// Arguments of backend::transform.
struct reduced_transform {
  transform_arguments arguments;
  type computation;
};

/// Returns an equivalent call with fewer functions, real if possible, without an updated vector of
/// factor 0.
reduced_transform reduced(const transform_arguments& a);

}  // namespace tally
