// This header sums products of bytes by the instruction of AVX-512 that adds four at a time
// (VNNI's). Sums of integers are exact, so they may be taken in any order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::backends::simd {

/// Says whether this processor has that instruction. (It must have AVX-512, too, and an instruction
/// set must have been chosen before.)
bool adds_byte_products_by_fours() noexcept;

/// Returns the sum of the products of n bytes, signed or unsigned ones, with that instruction.
template <class X, class Y>
std::int64_t sum_of_byte_products(const X* x, const Y* y, std::size_t n);

}  // namespace tally::backends::simd
