// This header finds whether an expansion (expansion.hpp) is worth while, and cuts the matrix for
// it.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/spmv/plan.hpp"

namespace tally::backends::cuda {

/// Cuts the matrix for an expansion, if most of its terms need elements of x from far apart.
void find_expansion(const current_device& current, cudaStream_t stream, const csr_operand& a,
                    csr_survey job, cut_analysis& to);

}  // namespace tally::backends::cuda
