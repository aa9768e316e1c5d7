// This header declares the kernels of histograms. Those of each type of samples are compiled in a
// source of their own (kernels.cu.in).
#pragma once

#include "backends/cuda/histogram/job.hpp"

#include <tally/types.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// A block that counts has so many threads.
inline constexpr unsigned histogram_threads = 1024;

// These functions are hidden by name: as they name types of the language alone, they would be
// visible outside the library.

/// Returns the kernel for samples of type X. It takes a histogram_job, or, where there may be
/// edges, a histogram_edges_job.
template <class X>
[[gnu::visibility("hidden")]] const void* histogram_kernel_of(bin_rule rule, counting where);
/// Returns the kernel that adds weights. It takes a histogram_weights_job.
template <class X>
[[gnu::visibility("hidden")]] const void* histogram_weights_kernel_of();

// These kernels look at no samples, or at samples of any type. Each takes the job of its name.
const void* histogram_zeros_kernel();
const void* histogram_bytes_kernel();
const void* histogram_sums_kernel();
const void* histogram_find_stray_kernel();  ///< finds the lowest index of a key outside
const void* histogram_tell_stray_kernel();  ///< delivers a stray_answer

}  // namespace tally::backends::cuda
