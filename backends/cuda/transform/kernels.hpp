#pragma once

#include "backends/cuda/transform/job.hpp"
#include "backends/cuda/transform/shape.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

namespace tally::backends::cuda {

using transform_kernel_function = void(const transform_job job);

/// Kernels for contiguous vectors of one type: `vectors` if all start at the same distance from a
/// multiple of 16 bytes, else `shifted`.
struct transform_kernel {
  const transform_case* cut = nullptr;         ///< partition; null: no kernel
  transform_kernel_function* vectors[3] = {};  ///< with 1, 2 and 4 loads, up to cut->max_loads
  transform_kernel_function* shifted = nullptr;
};

/// Returns the kernels of `what` for vectors of T. Where signs make no difference, integers are
/// taken as unsigned.
template <class T>
[[gnu::visibility("hidden")]] transform_kernel transform_kernel_of(elementwise what);

/// Returns the kernels of all short functions of `inputs` vectors, for those of a floating-point
/// type; none for others.
transform_kernel short_kernel_of(int inputs, type element);

/// Returns the kernel of short functions for any types and strides.
transform_kernel_function* any_short_kernel_of(int inputs, type computation);

/// Returns the kernels that copy real elements.
transform_kernel copy_kernel_of(type element);

/// Returns the kernel for any types and strides; it computes in `computation`.
transform_kernel_function* any_transform_kernel_of(elementwise what, type computation);

/// Returns the kernel that copies real numbers, or complex elements of two, with any strides.
transform_kernel_function* any_copy_kernel_of(type number);

}  // namespace tally::backends::cuda
