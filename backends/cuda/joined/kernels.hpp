// This header declares the kernels that join the sums of several devices.
#pragma once

#include "backends/cuda/joined/job.hpp"

#include <tally/interval_sum.hpp>

namespace tally::backends::cuda {

/// The host calls them through cudaLaunchKernel, never directly.
using join_kernel = void(join_job);

/// A block of a kernel that joins has this many threads.
inline constexpr unsigned join_threads = 288;

/// Returns the kernel that joins nodes of such sums.
join_kernel* join_nodes_kernel(summand what, type accumulator);

/// Returns the kernel that joins and rounds words of `exact_sum<float>`, or of double.
join_kernel* join_words_kernel(bool of_float);

}  // namespace tally::backends::cuda
