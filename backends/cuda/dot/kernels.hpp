// The kernels of dot, one table for each accumulator, each in a source file of its own so that they
// compile side by side.
#pragma once

#include "backends/cuda/dot/job.hpp"
#include "src/core/types/tables.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

/// A kernel. Called through cudaLaunchKernel, never directly.
using dot_kernel_function = void(dot_job);

/// The kernels that accumulate in `A`, for vectors that are contiguous and start at multiples of
/// what a thread loads at once, or for any.
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
