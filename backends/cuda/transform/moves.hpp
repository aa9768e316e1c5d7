// Kernels of fill and swap, which don't interpret elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Contiguous vectors are taken 16 bytes at a time, which may cut elements; others by units of an
/// element's alignment, one or two per element.
struct move_job {
  std::byte* x = nullptr;     ///< the other vector of swap
  std::byte* z = nullptr;     ///< filled or exchanged
  std::ptrdiff_t x_step = 0;  ///< units from one element to the next
  std::ptrdiff_t z_step = 0;
  std::int64_t n = 0;      ///< elements
  std::int64_t bytes = 0;  ///< of contiguous vectors
  std::int64_t head = 0;   ///< bytes before the first aligned 16
  int unit = 1;            ///< bytes
  int units = 1;           ///< per element
  /// What fill repeats: from byte `head` of a contiguous vector on, else from an element's first
  /// byte on. (An array of bytes would be indexed, which takes a stack.)
  std::uint64_t value[2] = {};
};

using move_kernel_function = void(const move_job job);

inline constexpr unsigned threads_of_move = 256;

/// 16-byte stores per thread of fill (tuning/transform.md: stores_of_fill).
inline constexpr int stores_of_fill = 2;

move_kernel_function* fill_kernel(bool contiguous);
/// `alike`: both contiguous, at the same distance from a multiple of 16 bytes.
move_kernel_function* swap_kernel(bool alike);

}  // namespace tally::backends::cuda
