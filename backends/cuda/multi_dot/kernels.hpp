#pragma once

#include "backends/cuda/multi_dot/job.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

using multi_dot_kernel = void(multi_dot_job);

/// Kernels for vectors of one type, in its own accumulator.
struct multi_dot_kernels {
  // For vectors for which is_contiguous(v, lanes) holds.
  multi_dot_kernel* against_one = nullptr;  ///< for pairs with the same y
  multi_dot_kernel* aligned = nullptr;
  multi_dot_kernel* short_aligned = nullptr;  ///< at most a chunk
  multi_dot_kernel* short_pairs = nullptr;    ///< at most a chunk, of any alignment
  // Contiguous, of half a row to one or two rows of lanes; or null.
  multi_dot_kernel* one_row = nullptr;
  multi_dot_kernel* two_rows = nullptr;
  int lanes = 0;  ///< per load of a thread
  int sets = 0;   ///< rows of lanes in flight, for short pairs
};

/// Types with such kernels.
using multi_dot_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;

const multi_dot_kernels& multi_dot_kernels_of(type element);

/// Returns the kernel for any vectors that `accumulator` can accumulate. For a complex one the ys
/// are complex, and the xs may be.
multi_dot_kernel* any_pairs_kernel(type accumulator, bool x_complex);

}  // namespace tally::backends::cuda
