// Shared with fused.cpp.
#pragma once

#include <tally/executor.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>

namespace tally {

/// Accumulators of an element type.
struct reduce_results {
  type rule{};
  type widest{};
};

const reduce_results& results_of(reduction what, type x);

void check_arguments(const executor& where, const reduce_arguments& a);
void check_arguments(const executor& where, const weighted_norm_arguments& a);

}  // namespace tally
