// Kernels of reductions.
#pragma once

#include "backends/cuda/device/sum_job.hpp"

#include <tally/operations/reduce.hpp>

namespace tally::backends::cuda {

/// `contiguous` is for vectors for which is_contiguous holds, `any` for all. A block's sum takes
/// `words` words (words.hpp).
struct reduce_kernel {
  /// Null for sum and asum of bytes in double (`max_exact_bytes`).
  sum_kernel_function* contiguous = nullptr;
  sum_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// `accumulator`: from accumulator_of (backends/common/order/reduce_sum.hpp). Instantiated in the
/// .cu files.
template <reduction what>
[[gnu::visibility("hidden")]] const reduce_kernel& reduce_kernel_of(type accumulator, type x);

}  // namespace tally::backends::cuda
