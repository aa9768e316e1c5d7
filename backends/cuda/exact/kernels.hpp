// The kernels of the exact grade, each pair of types in a source file of its own so that they
// compile side by side.
#pragma once

#include "src/core/table.hpp"

#include <tally/types.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// In the place of the second vector's type: there is none, and the terms are the first one's
/// elements, or their squares.
struct no_vector;
struct squared;
/// In the place of both: the kernel for any operands.
struct any_vector;

/// A kernel. Called through cudaLaunchKernel, never directly; its parameter is an exact_job.
struct exact_kernel_choice {
  const void* kernel = nullptr;
  int tile = 0;                  ///< elements that a warp takes at a time
  int lanes = 1;                 ///< adjacent ones that a thread loads at once
  std::size_t shared_bytes = 0;  ///< dynamic, of each warp
  unsigned words = 0;            ///< of a sum
};

/// The kernels for these types: one with long tiles, and one with short ones for short vectors,
/// whose terms are better shared out among many threads.
struct exact_kernel_pair {
  exact_kernel_choice long_tiles;
  exact_kernel_choice short_tiles;
};

template <class X, class Y>
exact_kernel_pair exact_kernels();

template <>
exact_kernel_pair exact_kernels<double, double>();
template <>
exact_kernel_pair exact_kernels<float, float>();
template <>
exact_kernel_pair exact_kernels<bool, float>();
template <>
exact_kernel_pair exact_kernels<float16, float16>();
template <>
exact_kernel_pair exact_kernels<bfloat16, bfloat16>();
template <>
exact_kernel_pair exact_kernels<double, no_vector>();
template <>
exact_kernel_pair exact_kernels<float, no_vector>();
template <>
exact_kernel_pair exact_kernels<double, squared>();
template <>
exact_kernel_pair exact_kernels<float, squared>();
template <>
exact_kernel_pair exact_kernels<any_vector, any_vector>();

}  // namespace tally::backends::cuda
