// Parameter of the kernels that sum.
#pragma once

#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

struct sum_job {
  // In the order of use: parameters come through a cache that is cold at first.
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;  ///< per block (sum_shape)
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< this and y_type are for kernels of any vectors
  type y_type = type::float64;
  bool unfinished = false;  ///< whether the result is a node of a longer vector's tree
  bool exchanged = false;   ///< whether such products' x and y are exchanged
  bool as_double = false;   ///< whether an int64 sum of bytes becomes a double
  /// 0: plain `result`; else the tag of its words (words.hpp).
  std::uint32_t tag = 0;
  /// Scratch memory (scratch.hpp) for several blocks.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< counter of ended launches, or null
  void* result = nullptr;          ///< device-accessible
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

/// Sums of at most this many bytes, or products of two, are exact in double as in int64, so the
/// int64 kernels serve both.
inline constexpr std::size_t max_exact_bytes = std::size_t{1} << 36;

/// Launched by cudaLaunchKernel, never called directly.
using sum_kernel_function = void(sum_job);

}  // namespace tally::backends::cuda
