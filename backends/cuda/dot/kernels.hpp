// Kernels of dot, in a source per accumulator (kernels.cu.in).
#pragma once

#include "backends/cuda/device/sum_job.hpp"

namespace tally::backends::cuda {

// Hidden by name, so that a missing instantiation fails when the library is linked, not loaded.

/// Returns the kernel for vectors of these types for which is_contiguous holds. Pre: x's type is
/// not after y's in the list. Null for bytes in double (`max_exact_bytes`).
template <class A>
[[gnu::visibility("hidden")]] sum_kernel_function* dot_kernel(type x, type y);

/// Returns the kernel for any vectors. For a complex `A` y is complex, and x may be.
template <class A>
[[gnu::visibility("hidden")]] sum_kernel_function* any_dot_kernel(bool x_complex);

}  // namespace tally::backends::cuda
