// An exact_job tells one launch of the exact grade what to do. It is the kernels' only parameter.
#pragma once

#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A block has at most this many warps.
inline constexpr unsigned exact_warps = 8;
/// A multiprocessor has this many blocks at a time.
inline constexpr unsigned exact_blocks = 2;

/// Blocks add up their sums in this scratch memory. Its words are a line of 128 bytes apart, so
/// that they lie in different slices of L2, which add side by side.
namespace exact_scratch {
inline constexpr unsigned apart = 16;
inline constexpr unsigned ticket = 0;
inline constexpr unsigned batch = apart;     ///< one for each part of the result
inline constexpr unsigned sums = 3 * apart;  ///< the first part's, then the second part's
constexpr unsigned words(unsigned parts, unsigned of_sum) { return sums + parts * of_sum * apart; }
}  // namespace exact_scratch

struct exact_job {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  unsigned tiles = 1;    ///< a batch has this many adjacent tiles; a warp takes a batch at a time
  bool dynamic = false;  ///< whether warps take batches as they get ready; else each has its share
  bool absolute = false;
  bool root = false;      ///< the result is the root of the sum
  bool to_float = false;  ///< the result is float, else double; of words the sum that they are of
  bool to_words = false;  ///< the sum is added to the words at `result` instead of being rounded
  /// 0: `result` is written as it is; else as words (words.hpp) with this tag, two for each word of
  /// a sum.
  std::uint32_t tag = 0;
  std::uint64_t* scratch = nullptr;  ///< where there are several blocks (scratch.hpp)
  std::uint64_t* ended = nullptr;    ///< the launch counts itself here when it ends, or null
  void* result = nullptr;            ///< the device can write here

  // Only the kernel for any operands uses the members below.
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
  type x_type = type::float64;
  type y_type = type::float64;
  /// The result has 1 part, or 2 if it is complex.
  unsigned parts = 1;
  /// A part of the result is the sum of such products over all elements. Each is one double that is
  /// a part of x's element times one that is a part of y's (or of x's again, or 1).
  struct product {
    std::uint8_t x = 0;
    std::uint8_t y = 0;
    bool negative = false;
  };
  unsigned products = 1;
  product product_of[2][4] = {};
  enum class factor : std::uint8_t { y, x, one } second = factor::y;
};

/// Tells one launch that rounds sums what to do: block i rounds sum i.
struct round_job {
  const std::int64_t* words = nullptr;  ///< of the first sum
  unsigned parts = 1;                   ///< a result has 1, or 2 if it is complex
  bool root = false;                    ///< the result is the root of the sum
  bool to_float = false;                ///< the result is float, else double
  std::uint32_t tag = 0;                ///< as in exact_job
  unsigned result_bytes = 0;            ///< from one result, or its words, to the next
  void* result = nullptr;               ///< the first result
};

}  // namespace tally::backends::cuda
