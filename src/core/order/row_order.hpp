// The order in which spmv sums the terms of a row: a function of their number n alone, and like
// <tally/order.hpp> part of the contract. See <tally/spmv.hpp> for what it says.
#pragma once

#include <cstddef>

namespace tally::backends::row_order {

/// Rows of up to this many terms are summed in `lanes`; longer ones as `dot` sums them.
inline constexpr std::size_t short_row = 128;
inline constexpr std::size_t lanes = 8;

}  // namespace tally::backends::row_order
