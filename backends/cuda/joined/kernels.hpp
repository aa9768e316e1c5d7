#pragma once

#include "backends/cuda/joined/job.hpp"

#include <tally/distributed/interval_sum.hpp>

namespace tally::backends::cuda {

using join_kernel = void(join_job);

/// Threads per block.
inline constexpr unsigned join_threads = 288;

join_kernel* join_nodes_kernel(summand what, type accumulator);

/// Returns the kernel that joins and rounds limbs of exact_sum<float>, or of double.
join_kernel* join_words_kernel(bool of_float);

}  // namespace tally::backends::cuda
