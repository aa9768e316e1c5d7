// A multi_dot_job tells one launch of several dot products what to do. It is the kernels' only
// parameter.
#pragma once

#include <tally/dot.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// One launch takes at most so many pairs where each has several blocks, or where there is a list
/// of them.
inline constexpr unsigned most_listed = 16;

/// This is a pair as a kernel needs it.
struct listed_pair {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

struct multi_dot_job {
  listed_pair first;              ///< pair 0; where there is a list, with the n of the longest
  std::ptrdiff_t x_distance = 0;  ///< bytes from one pair's x to the next's
  std::ptrdiff_t y_distance = 0;
  unsigned pairs = 1;
  unsigned pairs_a_block = 1;   ///< a block takes these in turns, tile by tile
  unsigned tiles = 1;           ///< a block has this many of each of its pairs
  unsigned threads_a_pair = 1;  ///< in the kernel for short pairs
  bool listed = false;
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< only the kernels for any types read this and y_type
  type y_type = type::float64;
  /// 0: `results` are written as they are; else as words (words.hpp) with this tag.
  std::uint32_t tag = 0;
  std::uint64_t* words =
      nullptr;  ///< scratch memory (scratch.hpp), where a pair has several blocks
  std::uint64_t* ended = nullptr;  ///< each pair counts itself here when it ends, or null
  void* results = nullptr;         ///< the device can write here
  listed_pair list[most_listed] = {};
};

}  // namespace tally::backends::cuda
