// Exact sum of a few doubles whose exponents are close, in registers: one integer of 128 bits,
// whose unit the largest magnitude decides.
#pragma once

#include "backends/common/arithmetic.hpp"
#include "backends/common/elementwise/elementwise.hpp"

#include <tally/numerics/rounding.hpp>

#include <cstdint>

namespace tally::backends {

class window_sum {
 public:
  using term = tally::detail::float_parts<double>;

  /// At most, terms of a sum.
  static constexpr int max_terms = 32;

  /// @param top largest exponent of the terms that are not 0, any if all are.
  TALLY_HOST_DEVICE explicit window_sum(int top) : unit_(top - below) {}

  /// Adds a finite term, and returns whether it fits; otherwise the sum is lost.
  TALLY_HOST_DEVICE bool add(const term& t) {
    const int shift = t.exponent - unit_;
    if (shift < 0) return t.zero();
    const auto bits = static_cast<wide>(t.significand) << (shift < below ? shift : below);
    sum_ += t.sign < 0 ? -bits : bits;
    return true;
  }

  /// Returns the sum, correctly rounded.
  template <float_or_double R>
  TALLY_HOST_DEVICE R round() const {
    const bool negative = sum_ < 0;
    const auto magnitude =
        negative ? -static_cast<unsigned_wide>(sum_) : static_cast<unsigned_wide>(sum_);
    const auto high = static_cast<std::uint64_t>(magnitude >> 64),
               low = static_cast<std::uint64_t>(magnitude);
    if (magnitude == 0) return R{0};
    const int zeros = high != 0 ? leading_zeros(high) : 64 + leading_zeros(low);
    const unsigned_wide shifted = magnitude << zeros;
    return tally::detail::rounded<R>(negative, static_cast<std::uint64_t>(shifted >> 64),
                                     unit_ + 127 - zeros, static_cast<std::uint64_t>(shifted) != 0);
  }

 private:
  __extension__ typedef __int128 wide;
  __extension__ typedef unsigned __int128 unsigned_wide;

  /// Binades below the largest exponent: 53 bits of a term, 5 of their number and the sign remain.
  static constexpr int below = 128 - 53 - 5 - 1;

  wide sum_ = 0;
  int unit_;
};

}  // namespace tally::backends
