// What one launch of several dot products is told: the kernels' only parameter.
#pragma once

#include <tally/dot.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Pairs that one launch with several blocks for each can take, and one with a list of them.
inline constexpr unsigned most_listed = 16;

/// A pair as a kernel needs it.
struct listed_pair {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

struct multi_dot_job {
  listed_pair first;              ///< pair 0; where there is a list, the longest's n
  std::ptrdiff_t x_distance = 0;  ///< bytes from one pair's x to the next's
  std::ptrdiff_t y_distance = 0;
  unsigned pairs = 1;
  unsigned pairs_a_block = 1;   ///< which it takes in turns, tile by tile
  unsigned tiles = 1;           ///< a block's, of each of its pairs
  unsigned threads_a_pair = 1;  ///< of the kernel for short pairs
  bool listed = false;
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< these two only for the kernels of any types
  type y_type = type::float64;
  std::uint32_t tag = 0;  ///< 0: `results` are plain; else words (words.hpp) with this tag
  std::uint64_t* words =
      nullptr;  ///< the workspace (workspace.hpp), for more than one block a pair
  std::uint64_t* ended = nullptr;  ///< where each pair counts itself when it ends, or null
  void* results = nullptr;         ///< where the device can write
  listed_pair list[most_listed] = {};
};

}  // namespace tally::backends::cuda
