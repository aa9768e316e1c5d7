// This header declares the kernels of sum, asum and nrm2.
#pragma once

#include "backends/cuda/device/sum_job.hpp"

#include <tally/reduce.hpp>

namespace tally::backends::cuda {

/// One kernel is for vectors that are contiguous and start at multiples of what a thread loads at
/// once, the other for all vectors, whose type its job tells. The sum of a block takes `words`
/// words (words.hpp).
struct reduce_kernel {
  /// This one is null for sum and asum of bytes in double (`most_exact_bytes`).
  sum_kernel_function* contiguous = nullptr;
  sum_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// Returns the kernel for elements of type `x`; `accumulator` is what accumulator_of
/// (src/core/order/reduce_sum.hpp) returns.
template <reduction what>
const reduce_kernel& reduce_kernel_of(type accumulator, type x);

template <>
const reduce_kernel& reduce_kernel_of<reduction::sum>(type accumulator, type x);
template <>
const reduce_kernel& reduce_kernel_of<reduction::asum>(type accumulator, type x);
template <>
const reduce_kernel& reduce_kernel_of<reduction::nrm2>(type accumulator, type x);

}  // namespace tally::backends::cuda
