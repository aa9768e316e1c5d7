// Common to the ladders of host and device.
#pragma once

#include "bench/contender.hpp"

namespace bench {

/// 2^20 elements, as in 2021, for the pairs of --quick.
std::vector<std::size_t> ladder_sizes(const types& t, bool full);

/// `c` under its rung's name, with its figure of 2021 or 0.
contender rung(std::string name, double us_in_2021, contender c);

}  // namespace bench
