// Parameter of one launch of gather or scatter.
#pragma once

#include "backends/common/elementwise/gathered_elements.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// Threads per block.
inline constexpr unsigned threads_of_gather = 256;

struct gather_job {
  gathered_elements elements;
  std::int64_t n;  ///< elements to move
  int unit;        ///< bytes of an element, or of half of one
};

const void* gather_kernel();

}  // namespace tally::backends::cuda
