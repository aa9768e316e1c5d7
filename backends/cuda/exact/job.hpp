// Parameter of one launch of the exact grade.
#pragma once

#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Warps per block, at most.
inline constexpr unsigned exact_warps = 8;
/// Blocks per SM.
inline constexpr unsigned exact_blocks = 2;
/// Blocks of a launch, at most: sums of more limbs could run into their counts (kernel.cuh:
/// counting).
inline constexpr unsigned max_exact_blocks = 1000;

/// Scratch memory for the blocks' sums. Limbs are 128 bytes apart, in different slices of L2, which
/// add in parallel.
namespace exact_scratch {
inline constexpr unsigned apart = 16;
inline constexpr unsigned batch = 0;         ///< one per part of the result
inline constexpr unsigned sums = 2 * apart;  ///< of the first part, then of the second
constexpr unsigned words(unsigned parts, unsigned of_sum) { return sums + parts * of_sum * apart; }
}  // namespace exact_scratch

struct exact_job {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;        ///< adjacent, per batch; a warp takes a batch at a time
  bool dynamic = false;      ///< whether warps take batches as they get ready
  bool leaves_room = false;  ///< for blocks of the next launch, which may start at once
  bool absolute = false;
  bool root = false;      ///< whether the result is the root of the sum
  bool to_float = false;  ///< result: float, else double; limbs: the type of their sum
  bool to_words = false;  ///< whether the sum is added, unrounded, to limbs at `result`
  /// 0: plain `result`; else the tag of its words, two per limb.
  std::uint32_t tag = 0;
  std::uint64_t* scratch = nullptr;  ///< for several blocks (scratch.hpp)
  std::uint64_t* ended = nullptr;    ///< counter of ended launches, or null
  void* result = nullptr;            ///< device-accessible

  // For the kernel of any operands.
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
  type x_type = type::float64;
  type y_type = type::float64;
  /// Parts of the result: 2 if complex.
  unsigned parts = 1;
  /// A part of x's element, as a double, times one of y's (or x's again, or 1).
  struct product {
    std::uint8_t x = 0;
    std::uint8_t y = 0;
    bool negative = false;
  };
  unsigned products = 1;
  product product_of[2][4] = {};
  enum class factor : std::uint8_t { y, x, one } second = factor::y;

  // For weighted terms: y is the weights, and products are rounded to the type of the result.
  const void* mask = nullptr;  ///< null: all terms
  std::ptrdiff_t mask_increment = 1;
  type mask_type = type::float64;
  std::size_t divisor = 0;  ///< of a mean, whose root is the result; 0: none
};

/// Parameter of one launch that rounds sums: block i rounds sum i.
struct round_job {
  const std::int64_t* words = nullptr;       ///< of the first sum
  unsigned parts = 1;                        ///< per result: 2 if complex
  bool root = false;                         ///< whether results are roots of the sums
  bool to_float = false;                     ///< float, else double
  std::uint32_t tag = 0;                     ///< as in exact_job
  unsigned result_bytes = 0;                 ///< to the next result, or its tagged words
  void* result = nullptr;                    ///< the first result
  static constexpr std::size_t divisor = 0;  ///< no means
};

}  // namespace tally::backends::cuda
