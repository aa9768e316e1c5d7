// Long rows of a matrix with few columns: x lies in shared memory.
#pragma once

#include "backends/cuda/spmv/queued_rows/queued_rows.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// Whether the launch that sums queued rows keeps x in shared memory.
bool keeps_few_columns(const spmv_call& call);

/// Returns that launch. `codes`: columns of 16 bits, or null.
queue_launch launch_of_few_columns(const spmv_call& call, const std::uint16_t* codes);

}  // namespace tally::backends::cuda
