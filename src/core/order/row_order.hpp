// spmv sums the terms of a row in this order. It is a function of their number n alone, and part of
// the contract, as <tally/order.hpp> is; <tally/spmv.hpp> says what it is.
#pragma once

#include <cstddef>

namespace tally::backends::row_order {

/// Rows of up to this many terms are summed in `lanes`; longer ones as `dot` sums them.
inline constexpr std::size_t short_row = 128;
inline constexpr std::size_t lanes = 8;

}  // namespace tally::backends::row_order
