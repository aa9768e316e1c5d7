// What the public reductions share with the updates that add one (fused.cpp).
#pragma once

#include <tally/executor.hpp>
#include <tally/reduce.hpp>

namespace tally {

/// Has the two accumulators that an element type allows.
struct reduce_results {
  type rule{};
  type widest{};
};

/// Returns those of a reduction of elements of type x.
const reduce_results& results_of(reduction what, type x);

/// Throws what is wrong with the arguments on this executor, if anything is.
void check_arguments(const executor& where, const reduce_arguments& a);

}  // namespace tally
