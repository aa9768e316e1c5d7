// What the ladders on the host and on the device share.
#pragma once

#include "bench/contender.hpp"

namespace bench {

/// 2^20 elements, as in 2021, for the pairs of --quick.
std::vector<std::size_t> ladder_sizes(const types& t, bool full);

/// `c` under the name of its rung, with its figure of 2021, or 0 where there is none.
contender rung(std::string name, double us_in_2021, contender c);

}  // namespace bench
