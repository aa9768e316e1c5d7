// Parameters of one launch of several sums.
#pragma once

#include "backends/cuda/device/update_job.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Pairs per launch, at most, if listed; pairs per block.
inline constexpr unsigned max_listed = 16;

struct listed_pair {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
};

/// Vectors that are summed alone have no y.
struct multi_dot_job {
  listed_pair first;              ///< pair 0; of a list, with the largest n
  std::ptrdiff_t x_distance = 0;  ///< bytes from one pair's x to the next
  std::ptrdiff_t y_distance = 0;
  unsigned pairs = 1;
  unsigned pairs_per_block = 1;   ///< in turns, tile by tile
  unsigned tiles = 1;             ///< per block and pair
  unsigned threads_per_pair = 1;  ///< for short pairs
  unsigned warps_per_pair = 1;    ///< for grouped pairs
  bool listed = false;
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< this and y_type are for kernels of any vectors
  type y_type = type::float64;
  /// 0: plain `results`; else the tag of their words (words.hpp).
  std::uint32_t tag = 0;
  std::uint64_t* words = nullptr;  ///< scratch memory (scratch.hpp) for several blocks a pair
  std::uint64_t* ended = nullptr;  ///< counter of ended pairs, or null
  void* results = nullptr;         ///< device-accessible
  // Pairs in blocks of rows: pair j is number `pairs_before` + j of all; `first` is still the first
  // block's first.
  std::uint64_t pairs_before = 0;
  std::uint64_t rows_per_block = 0;  ///< 0: one block
  std::ptrdiff_t x_block = 0;        ///< bytes from block to block
  std::ptrdiff_t y_block = 0;
  update_job update;  ///< instead of `results`
  listed_pair list[max_listed] = {};
};

/// Threads of a block that sums columns, at most.
inline constexpr unsigned max_column_threads = 256;

/// Columns: vectors side by side, in blocks. In the grid the columns of a block are fastest, then
/// come parts of columns, then blocks.
struct columns_job {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::int64_t columns = 0;        ///< of a block
  std::int64_t all = 0;            ///< of all blocks; the last may have fewer
  std::ptrdiff_t x_increment = 1;  ///< elements from term to term
  std::ptrdiff_t y_increment = 1;
  std::ptrdiff_t x_distance = 1;  ///< elements from column to column
  std::ptrdiff_t y_distance = 0;
  std::ptrdiff_t x_block = 0;  ///< bytes from block to block
  std::ptrdiff_t y_block = 0;
  unsigned groups = 1;        ///< thread blocks side by side, for a block's columns
  unsigned parts = 1;         ///< thread blocks per column
  unsigned chunks = 1;        ///< per part, a power of two
  unsigned shift_across = 0;  ///< log2 of the threads side by side
  conjugate conjugated = conjugate::none;
  type x_type = type::float64;  ///< this and y_type are for kernels of any vectors
  type y_type = type::float64;
  std::uint32_t tag = 0;  ///< as in multi_dot_job
  void* results = nullptr;
  void* sums = nullptr;               ///< of parts
  std::uint64_t* counters = nullptr;  ///< of a group's ended parts; zeros before and after
  std::uint64_t* ended = nullptr;     ///< counter of ended groups, or null
  update_job update;                  ///< instead of `results`
};

}  // namespace tally::backends::cuda
