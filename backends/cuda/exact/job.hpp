// What one launch of the exact grade is told: the kernels' only parameter.
#pragma once

#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Of a block, at most.
inline constexpr unsigned exact_warps = 8;
/// Of a multiprocessor, at a time.
inline constexpr unsigned exact_blocks = 2;

/// Blocks add their sums up here. Words are a line of 128 bytes apart, so that they lie in
/// different slices of L2, which add side by side.
namespace exact_workspace {
inline constexpr unsigned apart = 16;
inline constexpr unsigned ticket = 0;
inline constexpr unsigned chunk = apart;     ///< one for each part of the result
inline constexpr unsigned sums = 3 * apart;  ///< of the first part, then those of the second
constexpr unsigned words(unsigned parts, unsigned of_sum) { return sums + parts * of_sum * apart; }
}  // namespace exact_workspace

struct exact_job {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;    ///< adjacent ones, a chunk: what a warp takes at a time
  bool dynamic = false;  ///< whether warps take chunks as they come, or each its share
  bool absolute = false;
  bool root = false;      ///< the result is the root of the sum
  bool to_float = false;  ///< the result is float, else double
  std::uint32_t tag = 0;  ///< 0: `result` is plain; else words (words.hpp) with this tag
  std::uint64_t* workspace = nullptr;  ///< workspace.hpp, for more than one block
  std::uint64_t* ended = nullptr;      ///< where the launch counts itself when it ends, or null
  void* result = nullptr;              ///< where the device can write

  // Only of the kernel for any operands.
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
  type x_type = type::float64;
  type y_type = type::float64;
  /// The parts of the result: 1, or 2 of a complex one.
  unsigned parts = 1;
  /// Of an element's term: the products whose sum is a part of the result, of one double that is a
  /// part of the element of x and one that is a part of that of y (or of x, or 1).
  struct product {
    std::uint8_t x = 0;
    std::uint8_t y = 0;
    bool negative = false;
  };
  unsigned products = 1;
  product product_of[2][4] = {};
  enum class factor : std::uint8_t { y, x, one } second = factor::y;
};

}  // namespace tally::backends::cuda
