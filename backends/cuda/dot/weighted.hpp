// Weighted norms: sums of (x_i * w_i)^2.
#pragma once

#include "backends/common/order/weighted_square.hpp"
#include "backends/cuda/device/sum_job.hpp"

#include <cstddef>

namespace tally::backends::cuda {

/// y is w.
struct weighted_job : sum_job {
  weighted_norm what = weighted_norm::squares;
  type mask_type = type::float64;
  const void* mask = nullptr;  ///< null: all terms
  std::ptrdiff_t mask_increment = 1;
};

/// Parameter of the kernel that writes a cut chunk's terms.
struct weighted_terms_job {
  weighted_vectors vectors;
  std::size_t n = 0;
  void* to = nullptr;
};

/// Returns the kernel of a weighted_job: for vectors of the accumulator's type for which
/// is_contiguous holds, or for any.
const void* weighted_kernel(type accumulator, bool contiguous, bool masked);

/// Returns the kernel of a weighted_terms_job.
const void* weighted_terms_kernel(type accumulator);
inline constexpr unsigned threads_of_weighted_terms = 256;

}  // namespace tally::backends::cuda
