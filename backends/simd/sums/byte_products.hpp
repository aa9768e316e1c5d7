// Sums of products of bytes by AVX-512 VNNI, four at a time; exact, so in any order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::backends::simd {

/// Whether this processor has it.
/// @pre It has AVX-512, and an instruction set was chosen.
bool adds_byte_products_by_fours() noexcept;

template <class X, class Y>
std::int64_t sum_of_byte_products(const X* x, const Y* y, std::size_t n);

}  // namespace tally::backends::simd
