// Exact sums in few limbs, for weights whose exponents are within a window.
//
// Promise: limbs are exact. Limb l counts units of 2^(unit + l * limb_bits); a weight is cut into
// signed digits, one per limb, by additions that round to multiples of a limb's unit. Other weights
// are strays, which no limb gets.
#pragma once

#include "backends/common/types/tables.hpp"
#include "backends/simd/counting/histogram.hpp"

#include <tally/executor.hpp>
#include <tally/numerics/exact_sum.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tally::backends::simd {
namespace counting {

/// Bits of a digit, but of the uppermost, which has fewer if there are many weights.
inline constexpr int limb_bits = 41;
inline constexpr int max_limbs = 4;
/// Weights until carries must move up.
inline constexpr std::size_t max_unsettled = std::size_t{1} << 22;

/// Range of weights: multiples of 2^unit below 2^top. Sums of them, and one more number of up to
/// `max_addend`, do not overflow.
struct limb_window {
  int limbs = 0;  ///< of a sum: 1, 2 or 4, or 0 if too few weights fit, which have a `weight_sum`
  int top = 0, unit = 0;

  int unit_of(int limb) const { return unit + limb * limb_bits; }
};
inline constexpr int max_top = 950;
inline constexpr double max_addend = 0x1p1000;

/// Adds the weights of places first ... first + rows to the rows of a table; others go to one more,
/// last row. Returns the number of strays, copied in order to the given arrays, which may be
/// `places` and `weights`.
using add_to_limbs = std::size_t(const limb_window& window, const void* weights, const slot* places,
                                 std::size_t n, slot first, slot rows, std::int64_t* table,
                                 slot* stray_places, void* strays);

/// Adds each row's sum to a contiguous y, rounded once. A sum of 0 leaves its y.
using round_limbs = void(const limb_window& window, const std::int64_t* table, std::size_t rows,
                         void* y);

/// Adds up limbs.
inline exact_sum<double> sum_of_limbs(const limb_window& window, const std::int64_t* row) {
  exact_sum<double> sum;
  for (int l = 0; l < window.limbs; ++l) sum.add_scaled(row[l], window.unit_of(l));
  return sum;
}

/// Tables over float32 and float64, for 1, 2 and 4 limbs.
struct limb_kernels {
  std::array<type_table<add_to_limbs*>, 3> add;
  std::array<type_table<round_limbs*>, 3> round;
};
inline std::size_t kernel_of(int limbs) { return limbs == 1 ? 0 : limbs == 2 ? 1 : 2; }
const limb_kernels& limb_kernels_of(instruction_set set);

}  // namespace counting
}  // namespace tally::backends::simd
