// The one parameter of the element-wise kernels.
#pragma once

#include "src/core/types/typed_vector.hpp"

#include <cstdint>

namespace tally::backends::cuda {

struct transform_job {
  typed_vector x, y, z;
  std::int64_t n = 0;      ///< elements
  std::int64_t head = 0;   ///< elements before the first 16 bytes that are written at once
  std::int64_t whole = 0;  ///< how many times 16 bytes are
  /// The factors, in the type that elements are computed in.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
