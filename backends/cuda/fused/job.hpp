// This is the one parameter of the kernels that update a vector and sum it.
#pragma once

#include "backends/cuda/device/sum_job.hpp"
#include "src/core/elementwise/elementwise.hpp"

namespace tally::backends::cuda {

/// Is the job of a sum of z, or of z and v; `x` and `y` are the vectors that z is made of.
struct fused_job : sum_job {
  void* z = nullptr;
  const void* v = nullptr;  ///< the other vector of the sum, if it is not z
  /// The factors of axpby are in the type that elements are computed in.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
