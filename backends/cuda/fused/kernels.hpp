#pragma once

#include "backends/cuda/fused/job.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/fused.hpp>

namespace tally::backends::cuda {

using fused_kernel_function = void(const fused_job job);

/// Kernel for vectors of one type for which is_contiguous holds.
struct fused_kernel {
  fused_kernel_function* function = nullptr;
  unsigned words = 0;  ///< of a block's sum
};

/// Returns the kernel whose vectors and sum have this type, if any. With `itself` v is z. (The job
/// distinguishes conjugated products.)
fused_kernel fused_dot_kernel(type accumulator, bool itself);

/// The same of nrm2.
fused_kernel fused_nrm2_kernel(type element);

}  // namespace tally::backends::cuda
