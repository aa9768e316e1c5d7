// The host's part of a sum: a launch and, if the call waits, the result's arrival.
#pragma once

#include "backends/cuda/device/sum_job.hpp"
#include "backends/cuda/device/sum_shape.hpp"

#include <tally/distributed/interval_sum.hpp>
#include <tally/executor.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// Runs `kernel` on `job`, maybe the first part of a larger one, whose operands the caller has set.
/// `bytes` is a multiple of 4.
/// @throws error invalid_argument, naming `operation`, if `wait` and the stream is being captured.
void run_sum(const executor& where, const char* operation, const void* kernel,
             const sum_shape& shape, unsigned words_per_sum, sum_job& job, void* result,
             std::size_t bytes, bool wait);

inline void run_sum(const executor& where, const char* operation, sum_kernel_function* kernel,
                    const sum_shape& shape, unsigned words_per_sum, sum_job& job, void* result,
                    std::size_t bytes, bool wait) {
  run_sum(where, operation, reinterpret_cast<const void*>(kernel), shape, words_per_sum, job,
          result, bytes, wait);
}

/// Leaves the sum of a node of a longer vector, without waiting.
void sum_node_of_products(const executor& where, type accumulator, const interval_field& node,
                          void* sum);
void sum_node_of_elements(const executor& where, type accumulator, const interval_field& node,
                          void* sum);

void sum_node_of_weighted(const executor& where, type accumulator, const interval_field& node,
                          void* sum);
/// Writes the terms of a cut chunk.
void write_weighted_terms(const executor& where, type accumulator, const interval_field& field,
                          void* to);

}  // namespace tally::backends::cuda
