// Parameter of one launch of several dot products.
#pragma once

#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Pairs per launch, at most, if listed or of several blocks each.
inline constexpr unsigned max_listed = 16;

struct listed_pair {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

struct multi_dot_job {
  listed_pair first;              ///< pair 0; of a list, with the largest n
  std::ptrdiff_t x_distance = 0;  ///< bytes from one pair's x to the next
  std::ptrdiff_t y_distance = 0;
  unsigned pairs = 1;
  unsigned pairs_per_block = 1;   ///< in turns, tile by tile
  unsigned tiles = 1;             ///< per block and pair
  unsigned threads_per_pair = 1;  ///< for short pairs
  bool listed = false;
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< this and y_type are for kernels of any vectors
  type y_type = type::float64;
  /// 0: plain `results`; else the tag of their words (words.hpp).
  std::uint32_t tag = 0;
  std::uint64_t* words = nullptr;  ///< scratch memory (scratch.hpp) for several blocks a pair
  std::uint64_t* ended = nullptr;  ///< counter of ended pairs, or null
  void* results = nullptr;         ///< device-accessible
  listed_pair list[max_listed] = {};
};

}  // namespace tally::backends::cuda
