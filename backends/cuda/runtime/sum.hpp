// The host's part of a sum on a GPU is one launch and, for the form that waits, its answer.
#pragma once

#include "backends/cuda/device/sum_job.hpp"
#include "backends/cuda/device/sum_shape.hpp"

#include <tally/executor.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// Runs `kernel` on `job`, which may be the first part of a larger job. The caller has set the
/// operands in it, and this function sets the rest.
/// The sum of a block takes `words_a_sum` words. The result has `bytes` bytes, a multiple of 4.
/// @throws error invalid_argument, naming `operation`, if it is to wait for a stream that is being
/// captured.
void run_sum(const executor& where, const char* operation, const void* kernel,
             const sum_shape& shape, unsigned words_a_sum, sum_job& job, void* result,
             std::size_t bytes, bool wait);

/// Is the same for a kernel whose job is a sum_job and no more.
inline void run_sum(const executor& where, const char* operation, sum_kernel_function* kernel,
                    const sum_shape& shape, unsigned words_a_sum, sum_job& job, void* result,
                    std::size_t bytes, bool wait) {
  run_sum(where, operation, reinterpret_cast<const void*>(kernel), shape, words_a_sum, job, result,
          bytes, wait);
}

}  // namespace tally::backends::cuda
