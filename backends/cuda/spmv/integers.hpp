#pragma once

#include "backends/common/sparse/csr.hpp"
#include "backends/cuda/runtime/runtime.hpp"

namespace tally::backends::cuda {

/// Launches the sums of rows of integers, values alone.
void sum_integer_rows(const executor& where, const current_device& current, const csr_product& a);

}  // namespace tally::backends::cuda
