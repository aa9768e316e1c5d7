// What the public reductions share with the updates that add one (fused.cpp).
#pragma once

#include <tally/reduce.hpp>

namespace tally {

/// Has the two accumulators that an element type allows.
struct reduce_results {
  type rule{};
  type widest{};
};

/// Returns those of a reduction of elements of type x.
const reduce_results& results_of(reduction what, type x);

}  // namespace tally
