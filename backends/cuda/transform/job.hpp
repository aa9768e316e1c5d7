// Parameter of the element-wise kernels.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/types/typed_vector.hpp"

#include <cstdint>

namespace tally::backends::cuda {

struct transform_job {
  typed_vector x, y, z;
  std::int64_t n = 0;      ///< elements
  std::int64_t head = 0;   ///< elements before the first 16-byte load
  std::int64_t whole = 0;  ///< 16-byte loads
  bool early = true;       ///< whether the next launch may start before this one ends
  /// Factors, in the type of the computation.
  alignas(16) unsigned char factors[sizeof(three_factors<complex_number<double>>)] = {};
  typed_vector w = {};                   ///< third input
  elementwise what = elementwise::copy;  ///< of kernels that short functions share
};

}  // namespace tally::backends::cuda
