// Kernels of several dot products.
#pragma once

#include "backends/cuda/multi_dot/job.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

/// Launched by cudaLaunchKernel, never called directly.
using multi_dot_kernel = void(multi_dot_job);

/// Kernels for vectors of one type, in its own accumulator.
struct multi_dot_kernels {
  // For vectors that are contiguous and start at multiples of a thread's load.
  multi_dot_kernel* against_one = nullptr;  ///< for pairs with the same y
  multi_dot_kernel* aligned = nullptr;
  multi_dot_kernel* short_aligned = nullptr;  ///< for pairs of at most a chunk
  multi_dot_kernel* short_pairs = nullptr;    ///< for contiguous vectors of at most a chunk
  // For contiguous vectors of half a row to one or two rows of lanes; or null.
  multi_dot_kernel* one_row = nullptr;
  multi_dot_kernel* two_rows = nullptr;
  int lanes = 0;  ///< elements per load of a thread
  int sets = 0;   ///< rows of lanes of short pairs that a thread has at once
};

/// Types with such kernels.
using multi_dot_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;

/// Returns the kernels for two vectors of this type.
const multi_dot_kernels& multi_dot_kernels_of(type element);

/// Returns the kernel for any vectors that `accumulator` can accumulate, whose types the job names.
/// For a complex accumulator the ys are complex, and the xs may be.
multi_dot_kernel* any_pairs_kernel(type accumulator, bool x_complex);

}  // namespace tally::backends::cuda
