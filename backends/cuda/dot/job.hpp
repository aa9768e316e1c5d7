// A dot_job tells one launch of dot, or of a reduction of x alone, what to do. It is the kernel's
// only parameter, and the same for all types.
#pragma once

#include <tally/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct dot_job {
  // The members are in the order in which a kernel needs them: parameters come through a cache that
  // is cold at the kernel's start.
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;  ///< a block takes this many (dot_shape)
  conjugate conjugated = conjugate::none;
  /// 0: `result` is written as it is; else as words (words.hpp) with this tag.
  std::uint32_t tag = 0;
  /// The workspace (workspace.hpp), where there are several blocks.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< the launch counts itself here when it ends, or null
  void* result = nullptr;          ///< the device can write here
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

}  // namespace tally::backends::cuda
