// What a plan may keep of a matrix's columns where they are promised to stay. It takes less memory
// than they do, so products that read it in their place take less time.
#pragma once

#include <tally/types.hpp>

#include <cstdint>

namespace tally::backends {

/// Rows with one list of differences column - row have one pattern. A structured grid has few of
/// them: one of its points inside, and some of those near its faces.
struct row_patterns {
  /// A pattern's number is a byte.
  static constexpr int most = 256;
  /// A list takes room for a multiple of so many differences, which can be read side by side.
  static constexpr int alignment = 16;

  std::uint8_t* of_row = nullptr;       ///< the number of each row's pattern
  std::int32_t* lengths = nullptr;      ///< how many terms the rows of each pattern have
  std::int32_t* differences = nullptr;  ///< the list of pattern p begins at p * stride
  std::int32_t stride = 0;              ///< a multiple of `alignment`, no list is longer
};

/// Says that a difference column - row can be kept in 16 bits. In a banded matrix all can.
TALLY_HOST_DEVICE constexpr bool is_near(std::int64_t difference) {
  return difference >= INT16_MIN && difference <= INT16_MAX;
}

}  // namespace tally::backends
