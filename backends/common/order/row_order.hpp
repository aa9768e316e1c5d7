// Order of a row's terms in spmv, a function of their number alone. Part of the contract:
// <tally/sparse/spmv.hpp>.
#pragma once

#include <cstddef>

namespace tally::backends::row_order {

/// Rows of up to this many terms use `lanes`; longer ones are summed as by `dot`.
inline constexpr std::size_t short_row = 128;
inline constexpr std::size_t lanes = 8;

}  // namespace tally::backends::row_order
