#pragma once

#include "backends/cuda/interval/job.hpp"

namespace tally::backends::cuda {

using vectors_kernel_function = void(vectors_job);
using terms_kernel_function = void(terms_job);

/// `contiguous`, if not null, is for vectors of one type, in its own accumulator, for which
/// is_contiguous(v, lanes) holds; `any` is for all that the accumulator can sum. A block's sum
/// takes `words` words (words.hpp).
struct vectors_kernel {
  vectors_kernel_function* contiguous = nullptr;
  vectors_kernel_function* any = nullptr;
  int lanes = 1;
  unsigned words = 0;
};

/// Returns the kernels for values, magnitudes or squares; `accumulator` is complex if x is.
/// Instantiated in elements.cu.
template <summand what>
[[gnu::visibility("hidden")]] vectors_kernel vectors_kernel_of(type accumulator, type x);

/// Pre: x is not after y in the list of types.
vectors_kernel products_kernel_of(type accumulator, type x, type y);

/// Writes terms of float32 or float64: a block per `threads_of_terms` terms of a field, in the
/// grid's second dimension.
terms_kernel_function* terms_kernel(type number);
inline constexpr unsigned threads_of_terms = 256;

}  // namespace tally::backends::cuda
