#pragma once

#include <tally/operands/types.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// Second type for one vector: terms are elements or, for `squared`, their squares.
struct no_vector;
struct squared;
/// Both types for any operands.
struct any_vector;
/// Both types for squares of products, of any operands.
struct weighted_vector;

/// A kernel of an exact_job.
struct exact_kernel_choice {
  const void* kernel = nullptr;
  int tile = 0;                  ///< elements per warp at a time
  int per_load = 1;              ///< per load of a thread
  std::size_t shared_bytes = 0;  ///< dynamic, per warp
  unsigned words = 0;            ///< of a sum
};

/// Long tiles, and short ones, by which many threads share a short vector.
struct exact_kernel_pair {
  exact_kernel_choice long_tiles;
  exact_kernel_choice short_tiles;
};

/// Instantiated in the .cu files.
template <class X, class Y>
[[gnu::visibility("hidden")]] exact_kernel_pair exact_kernels();

/// Returns the kernel of a round_job, for sums of floats or of doubles.
const void* round_kernel(bool of_float);

}  // namespace tally::backends::cuda
