// Long rows of a matrix with few columns: x lies in shared memory.
#pragma once

#include "backends/cuda/spmv/queued_rows/queued_rows.hpp"

#include <cstdint>

namespace tally::backends::cuda {

class search;

/// Returns the columns in 16 bits; null if some do not fit, or without memory, or if some are wrong
/// (`has_defect`).
const std::uint16_t* find_narrow_columns(search& s);

/// Whether the launch that sums queued rows keeps x in shared memory.
bool keeps_few_columns(const spmv_call& call);

/// Returns that launch. `codes`: columns of 16 bits, or null.
queue_launch launch_of_few_columns(const spmv_call& call, const std::uint16_t* codes);

}  // namespace tally::backends::cuda
