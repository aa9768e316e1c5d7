#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/cuda/device/sum_job.hpp"

namespace tally::backends::cuda {

/// A sum of z, or of z and v, with z made of `x` and `y`.
struct fused_job : sum_job {
  void* z = nullptr;
  const void* v = nullptr;  ///< the sum's other vector, unless z
  /// Factors of axpby, in the type of the computation.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
