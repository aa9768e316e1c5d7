// What the public reductions share with the updates that add one (fused.cpp).
#pragma once

#include <tally/reduce.hpp>

namespace tally {

/// The two accumulators that an element type allows.
struct reduce_results {
  type rule{};
  type widest{};
};

const reduce_results& results_of(reduction what, type x);

}  // namespace tally
