// Parameter of the kernels that update a vector and sum it.
#pragma once

#include "backends/cuda/device/sum_job.hpp"
#include "src/core/elementwise/elementwise.hpp"

namespace tally::backends::cuda {

/// Job of a sum of z, or of z and v, with z made of `x` and `y`.
struct fused_job : sum_job {
  void* z = nullptr;
  const void* v = nullptr;  ///< the other vector of the sum, unless it is z
  /// Factors of axpby, in the type of the computation.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
