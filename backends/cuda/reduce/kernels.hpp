// The kernels of sum, asum and nrm2, each operation's in a source file of its own so that they
// compile side by side.
#pragma once

#include "backends/cuda/dot/kernels.hpp"

#include <tally/reduce.hpp>

namespace tally::backends::cuda {

/// For vectors that are contiguous and start at multiples of what a thread loads at once, or for
/// any; `words` is how many (words.hpp) the sum of a block takes.
struct reduce_kernel {
  dot_kernel_function* contiguous = nullptr;
  dot_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// The kernel for elements of type `x`; `accumulator` as in backends/reduce_sum.hpp.
template <reduction what>
const reduce_kernel& reduce_kernel_of(type accumulator, type x);

template <>
const reduce_kernel& reduce_kernel_of<reduction::sum>(type accumulator, type x);
template <>
const reduce_kernel& reduce_kernel_of<reduction::asum>(type accumulator, type x);
template <>
const reduce_kernel& reduce_kernel_of<reduction::nrm2>(type accumulator, type x);

}  // namespace tally::backends::cuda
