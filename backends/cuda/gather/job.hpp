// A gather_job tells one launch of gather or scatter what to do. It is the kernel's only parameter.
#pragma once

#include "src/core/elementwise/gathered_elements.hpp"

#include <cstdint>

namespace tally::backends::cuda {

/// A block has so many threads, each of which moves one element; a thread has more only where a
/// grid could not have as many.
inline constexpr unsigned threads_of_gather = 256;

struct gather_job {
  gathered_elements elements;
  std::int64_t n;  ///< elements that are moved
  int unit;        ///< an element is so many bytes, or two such
};

/// Returns the kernel.
const void* gather_kernel();

}  // namespace tally::backends::cuda
