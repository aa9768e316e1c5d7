// Products whose first launches queue long rows for the last.
#pragma once

#include "backends/cuda/spmv/method.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// A launch, and its kernel.
struct queue_launch {
  void (*kernel)(spmv_job);
  launch_shape shape;
};

/// Returns the launch of a block per row that queues the longest. Pre: has_whole_rows_unplanned.
queue_launch launch_of_whole_rows(const spmv_call& call);

/// Launches a product as without a plan. `codes`: columns of 16 bits for keeps_few_columns, or
/// null. Pre: values and x are of one special type.
void multiply_queued_rows(const spmv_call& call, const std::uint16_t* codes);

}  // namespace tally::backends::cuda
