// Search for a propagation blocking.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

namespace tally::backends::cuda {

/// Cuts the matrix for propagation blocking (expansion.hpp), if most terms need distant elements of
/// x.
void find_expansion(const current_device& current, cudaStream_t stream, const csr_operand& a,
                    csr_survey job, cut_analysis& to);

}  // namespace tally::backends::cuda
