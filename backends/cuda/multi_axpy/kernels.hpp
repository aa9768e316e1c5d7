#pragma once

#include "backends/cuda/multi_axpy/job.hpp"

#include <tally/operands/types.hpp>

namespace tally::backends::cuda {

using multi_axpy_kernel = void(const multi_axpy_job job);

/// Returns the kernel for contiguous vectors of one type, computed in it or, of 16 bits, in float:
/// 16 bytes per load if `wide`, where all start at one distance from a multiple of 16 bytes, else
/// an element. Null if there is none.
multi_axpy_kernel* uniform_update_kernel(type element, bool wide);

/// Returns the kernel for any vectors.
multi_axpy_kernel* any_update_kernel(type computation);

}  // namespace tally::backends::cuda
