// This is the one parameter of the element-wise kernels.
#pragma once

#include "src/core/elementwise/elementwise.hpp"
#include "src/core/types/typed_vector.hpp"

#include <cstdint>

namespace tally::backends::cuda {

struct transform_job {
  typed_vector x, y, z;
  std::int64_t n = 0;      ///< how many elements there are
  std::int64_t head = 0;   ///< elements before the first load of 16 bytes
  std::int64_t whole = 0;  ///< loads of 16 bytes
  bool early = true;       ///< whether the next launch may start before this one ends
  /// The factors are in the type that elements are computed in.
  alignas(16) unsigned char factors[sizeof(three_factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
