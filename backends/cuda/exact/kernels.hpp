// This header declares the kernels of the exact grade.
#pragma once

#include <tally/types.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// Stands in the place of the second vector's type where there is none: the terms are the first
/// one's elements, or, for `squared`, their squares.
struct no_vector;
struct squared;
/// Stands in the place of both types: it names the kernel for any operands.
struct any_vector;

/// A kernel with what the host must know of it. The host calls it through cudaLaunchKernel, never
/// directly; its parameter is an exact_job.
struct exact_kernel_choice {
  const void* kernel = nullptr;
  int tile = 0;                  ///< elements that a warp takes at a time
  int per_load = 1;              ///< adjacent elements that a thread loads at once
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of each warp
  unsigned words = 0;            ///< words of a sum
};

/// The kernels for these types: one with long tiles, and one with short tiles for short vectors, so
/// that many threads share their terms.
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

/// Rounds sums of floats, or of doubles; its parameter is a round_job.
const void* round_kernel(bool of_float);

}  // namespace tally::backends::cuda
