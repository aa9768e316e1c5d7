// This header declares the kernels of sums over an interval.
#pragma once

#include "backends/cuda/interval/job.hpp"

namespace tally::backends::cuda {

/// The types of kernels. The host calls them through cudaLaunchKernel, never directly.
using vectors_kernel_function = void(vectors_job);
using terms_kernel_function = void(terms_job);

/// One kernel is for vectors of one type, in its own accumulator, that are contiguous and start at
/// multiples of what a thread loads at once, which is `lanes` elements; it may be null. The other
/// is for all vectors that the accumulator can sum. The sum of a block takes `words` words
/// (words.hpp).
struct vectors_kernel {
  vectors_kernel_function* contiguous = nullptr;
  vectors_kernel_function* any = nullptr;
  int lanes = 1;
  unsigned words = 0;
};

/// Returns the kernels for values, magnitudes or squares of elements of type `x`; `accumulator` is
/// complex where they are.
template <summand what>
vectors_kernel vectors_kernel_of(type accumulator, type x);

template <>
vectors_kernel vectors_kernel_of<summand::value>(type accumulator, type x);
template <>
vectors_kernel vectors_kernel_of<summand::magnitude>(type accumulator, type x);
template <>
vectors_kernel vectors_kernel_of<summand::square>(type accumulator, type x);

/// Returns the kernels for products; x does not come after y in the list of types.
vectors_kernel products_kernel_of(type accumulator, type x, type y);

/// Returns the kernel for squares of scaled elements.
vectors_kernel scaled_squares_kernel_of(type accumulator);

/// Returns the kernel that writes terms; `number` is float32 or float64. A field has a block for
/// each `threads_of_terms` of its terms: the grid's second dimension.
terms_kernel_function* terms_kernel(type number);
inline constexpr unsigned threads_of_terms = 256;

}  // namespace tally::backends::cuda
