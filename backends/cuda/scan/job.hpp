// Parameter of one launch of a scan: a real vector, or one component.
#pragma once

#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Warps per block, and blocks per SM: as many as have the registers (tuning/scan.md: warps).
inline constexpr unsigned scan_warps = 4;
inline constexpr int scan_blocks = 5;

/// Adjacent chunks that a warp scans.
template <class A>
inline constexpr int scan_chunks_per_warp = sizeof(A) == 4 ? 2 : 1;

/// Levels of units, of 32 each of the level below: 2^48 elements have 38 bits of chunks.
inline constexpr int scan_levels = 8;

/// A unit is what a warp scans; units are numbered in the longer vector.
template <class A>
struct scan_job {
  const void* x = nullptr;
  std::ptrdiff_t x_increment = 1;
  type x_type{};
  A* y = nullptr;
  std::ptrdiff_t y_increment = 1;
  std::int64_t n = 0;
  bool exclusive = false;

  std::int64_t first_unit = 0;
  std::int64_t units = 0;  ///< fewer than 2^32
  /// Chunks of the first unit that precede x, and their sum.
  int missing = 0;
  A of_missing{};
  /// Sums of the nodes of the units before, the largest first.
  A nodes[64] = {};

  std::uint64_t* words = nullptr;  ///< sums of units, of 32 units, ... (words.hpp)
  std::uint32_t tag = 0;           ///< of full words; 0: *epoch + 1
  std::uint64_t* epoch = nullptr;  ///< number of launches with these words
  std::uint64_t* ended = nullptr;
};

/// Words of a launch.
template <class A>
std::size_t scan_words(std::int64_t first_unit, std::int64_t units) {
  std::int64_t count = 0;
  std::int64_t last = first_unit + units - 1;
  for (int l = 0; l < scan_levels; ++l, first_unit >>= 5, last >>= 5)
    count += last - first_unit + 1;
  return static_cast<std::size_t>(count) * sizeof(A) / 4;
}

/// `contiguous`: both increments are 1.
const void* scan_kernel(type accumulator, bool contiguous);

}  // namespace tally::backends::cuda
