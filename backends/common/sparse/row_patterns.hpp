// Compressed columns of a plan with fixed columns: fewer bytes per product.
#pragma once

#include <tally/operands/types.hpp>

#include <cstdint>

namespace tally::backends {

/// Lists of differences column - row. A structured grid has few: inner points, and some near faces.
struct row_patterns {
  /// A pattern's number is a byte.
  static constexpr int max = 256;
  /// Padding of lists, for vector loads.
  static constexpr int alignment = 16;

  std::uint8_t* of_row = nullptr;       ///< pattern of each row
  std::int32_t* lengths = nullptr;      ///< terms of each pattern
  std::int32_t* differences = nullptr;  ///< list of pattern p at p * stride
  std::int32_t stride = 0;              ///< maximum length, a multiple of `alignment`
};

/// Whether a difference column - row fits 16 bits, as all do in a banded matrix.
TALLY_HOST_DEVICE constexpr bool is_near(std::int64_t difference) {
  return difference >= INT16_MIN && difference <= INT16_MAX;
}

}  // namespace tally::backends
