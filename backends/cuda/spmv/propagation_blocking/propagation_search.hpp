// Search for a propagation blocking.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

namespace tally::backends::cuda {

/// Cuts the matrix for propagation blocking (propagation_blocking.hpp), if most terms need distant
/// elements of x.
void find_propagation_blocking(const current_device& current, cudaStream_t stream,
                               const csr_operand& a, analysis_job job, cuda_plan& to);

}  // namespace tally::backends::cuda
