// What one launch of dot, or of a reduction of x alone, is told: the kernel's only parameter, the
// same for all types.
#pragma once

#include <tally/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct dot_job {
  // In the order in which a kernel needs them: parameters come through a cache, cold at its start.
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;  ///< a block's, of dot_shape
  conjugate conjugated = conjugate::none;
  std::uint32_t tag = 0;           ///< 0: `result` is plain; else words (words.hpp) with this tag
  std::uint64_t* words = nullptr;  ///< the workspace (workspace.hpp), for more than one block
  std::uint64_t* ended = nullptr;  ///< where the launch counts itself when it ends, or null
  void* result = nullptr;          ///< where the device can write
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

}  // namespace tally::backends::cuda
