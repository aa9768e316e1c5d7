// This header declares the kernels that update a vector and sum it.
#pragma once

#include "backends/cuda/fused/job.hpp"

#include <tally/fused.hpp>
#include <tally/types.hpp>

namespace tally::backends::cuda {

using fused_kernel_function = void(const fused_job job);

/// Is a kernel for vectors of one type that are contiguous and start at multiples of what a thread
/// loads at once.
struct fused_kernel {
  fused_kernel_function* function = nullptr;
  unsigned words = 0;  ///< the sum of a block takes so many
};

/// Returns the kernel whose vectors and sum have this type; none where there is none. With `itself`
/// the sum is that of z with z. (dot and dotc differ in what the job says.)
fused_kernel fused_dot_kernel(type accumulator, bool itself);

/// Returns the kernel of nrm2, of vectors of this type.
fused_kernel fused_nrm2_kernel(type element);

}  // namespace tally::backends::cuda
