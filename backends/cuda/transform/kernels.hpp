// The element-wise kernels, those of each type in a source file of its own so that they compile
// side by side.
#pragma once

#include "backends/cuda/transform/job.hpp"

#include <tally/transform.hpp>
#include <tally/types.hpp>

namespace tally::backends::cuda {

using transform_kernel_function = void(const transform_job job);

/// How many times 16 bytes a thread takes, and how many threads a block has.
struct transform_shape {
  unsigned words;
  unsigned threads;
};

/// For contiguous vectors of one type: `vectors` where all start equally many bytes past a multiple
/// of 16, `shifted` where they don't.
struct transform_kernel {
  transform_kernel_function* vectors = nullptr;
  transform_shape vectors_shape = {};
  transform_kernel_function* shifted = nullptr;
  transform_shape shifted_shape = {};
};

/// The kernel of one function on vectors of T, whose bits integers are taken as where their sign
/// makes no difference.
template <class T>
transform_kernel transform_kernel_of(elementwise what);

template <>
transform_kernel transform_kernel_of<std::int8_t>(elementwise what);
template <>
transform_kernel transform_kernel_of<std::int32_t>(elementwise what);
template <>
transform_kernel transform_kernel_of<std::int64_t>(elementwise what);
template <>
transform_kernel transform_kernel_of<float16>(elementwise what);
template <>
transform_kernel transform_kernel_of<bfloat16>(elementwise what);
template <>
transform_kernel transform_kernel_of<float>(elementwise what);
template <>
transform_kernel transform_kernel_of<double>(elementwise what);

/// Copies real elements.
transform_kernel copy_kernel_of(type element);

/// For vectors of any types and strides, computed in `computation`.
transform_kernel_function* any_transform_kernel_of(elementwise what, type computation);

/// Copies real numbers, or complex elements of two of them.
transform_kernel_function* any_copy_kernel_of(type number);

}  // namespace tally::backends::cuda
