// Defects of a matrix.
#pragma once

#include "backends/common/sparse/csr_defects.hpp"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"

#include <cuda_runtime_api.h>

namespace tally::backends::cuda {

/// Returns the defect found, if any; fetches the wrong index on the stream.
csr_defect defect_of(cudaStream_t stream, const csr_operand& a, const analysis_results& words);

}  // namespace tally::backends::cuda
