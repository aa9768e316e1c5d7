// This header declares the kernels of fill and swap, which move elements without a look at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// This is the one parameter of these kernels. Vectors are bytes here: contiguous ones are taken 16
/// bytes at a time, which may cut elements; all others a unit at a time, which is what an element
/// is aligned to. An element has one unit or two.
struct move_job {
  std::byte* x = nullptr;     ///< the other vector of swap
  std::byte* z = nullptr;     ///< what is filled or exchanged
  std::ptrdiff_t x_step = 0;  ///< units from one element to the next
  std::ptrdiff_t z_step = 0;
  std::int64_t n = 0;      ///< elements
  std::int64_t bytes = 0;  ///< bytes of contiguous vectors
  std::int64_t head = 0;   ///< bytes before the first 16 that are aligned
  int unit = 1;            ///< bytes
  int units = 1;           ///< an element has this many
  /// What fill writes, again and again: from byte `head` of a contiguous vector on, otherwise from
  /// the first byte of an element on. (Bytes would be indexed, which takes a stack.)
  std::uint64_t value[2] = {};
};

using move_kernel_function = void(const move_job job);

inline constexpr unsigned threads_of_move = 256;

/// A thread of the kernel that fills contiguous vectors stores 16 bytes so many times. In us, of
/// doubles, and in brackets of vectors that start 8 bytes past a multiple of 16. Device: H200.
/// Date: 2026-11-22.
///
///               2              4              8         cudaMemsetAsync
///     2^20    2.86 (3.02)    3.17 (3.51)    2.76 (3.05)      3.0
///     2^22    8.19 (8.86)    8.18 (8.91)    8.32 (9.50)      8.4
///     2^28     459 (497)      458 (498)      463 (530)       471
inline constexpr int stores_of_fill = 2;

/// Returns the kernel of fill.
move_kernel_function* fill_kernel(bool contiguous);
/// Returns the kernel of swap; `alike` says whether both vectors are contiguous and start equally
/// many bytes past a multiple of 16.
move_kernel_function* swap_kernel(bool alike);

}  // namespace tally::backends::cuda
