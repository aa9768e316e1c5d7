// This header says what a survey tells of a matrix's defects.
#pragma once

#include "backends/cuda/spmv/plan.hpp"
#include "src/core/sparse/csr_defects.hpp"

#include <cuda_runtime_api.h>

namespace tally::backends::cuda {

/// Returns the defect that a survey has found. The stream fetches the index that is wrong.
csr_defect defect_of(cudaStream_t stream, const csr_operand& a, const survey_words& words);

}  // namespace tally::backends::cuda
