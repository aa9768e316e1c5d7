// The kernels of dot stand in one table for each accumulator. Each table has a source file of its
// own, so that they compile side by side.
#pragma once

#include "backends/cuda/dot/job.hpp"
#include "src/core/types/tables.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

/// The type of a kernel. The host calls it through cudaLaunchKernel, never directly.
using dot_kernel_function = void(dot_job);

/// Returns the kernels that accumulate in `A`: for vectors that are contiguous and start at
/// multiples of what a thread loads at once, and for all others.
template <class A>
const pair_table<dot_kernel_function>& dot_kernels(bool contiguous);

template <>
const pair_table<dot_kernel_function>& dot_kernels<std::int64_t>(bool contiguous);
template <>
const pair_table<dot_kernel_function>& dot_kernels<float>(bool contiguous);
template <>
const pair_table<dot_kernel_function>& dot_kernels<double>(bool contiguous);
template <>
const pair_table<dot_kernel_function>& dot_kernels<std::complex<float>>(bool contiguous);
template <>
const pair_table<dot_kernel_function>& dot_kernels<std::complex<double>>(bool contiguous);

}  // namespace tally::backends::cuda
