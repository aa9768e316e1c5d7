// This header declares the kernels of dot. Those of each accumulator `A` are compiled in a source
// of their own (kernels.cu.in).
#pragma once

#include "backends/cuda/device/sum_job.hpp"

namespace tally::backends::cuda {

// These functions are hidden by name, so that one that no source compiles is missed when the
// library is linked, and not when it is loaded.

/// Returns the kernel that accumulates in `A`, for vectors of these types that are contiguous and
/// start at multiples of what a thread loads at once. x's type is not after y's in the list. It is
/// null for bytes in double (`most_exact_bytes`).
template <class A>
[[gnu::visibility("hidden")]] sum_kernel_function* dot_kernel(type x, type y);

/// Returns the kernel that accumulates in `A`, for any vectors; it is told their types in its job.
/// For a complex `A` y is complex, and x may be.
template <class A>
[[gnu::visibility("hidden")]] sum_kernel_function* any_dot_kernel(bool x_complex);

}  // namespace tally::backends::cuda
