// A sum_job tells one launch of dot, or of a reduction of x alone, what to do. It is the kernel's
// only parameter, and the same for all types.
#pragma once

#include <tally/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct sum_job {
  // The members are in the order in which a kernel needs them: parameters come through a cache that
  // is cold at the kernel's start.
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;  ///< a block takes this many (sum_shape)
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< only kernels of any vectors read this and y_type
  type y_type = type::float64;
  bool unfinished = false;  ///< whether the sum is delivered as a node of a longer vector's tree,
  bool exchanged = false;   ///< and of products whether x and y have changed places
  bool as_double = false;   ///< whether the sum of bytes in int64 is delivered as a double
  /// 0: `result` is written as it is; else as words (words.hpp) with this tag.
  std::uint32_t tag = 0;
  /// Scratch memory (scratch.hpp), where there are several blocks.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< the launch counts itself here when it ends, or null
  void* result = nullptr;          ///< the device can write here
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

/// Sums of at most so many bytes, or products of two, are exact in double as in int64. So the
/// kernels that sum contiguous bytes in int64 serve both accumulators, and there are none in
/// double.
inline constexpr std::size_t most_exact_bytes = std::size_t{1} << 36;

/// The type of a kernel that sums. The host calls it through cudaLaunchKernel, never directly.
using sum_kernel_function = void(sum_job);

}  // namespace tally::backends::cuda
