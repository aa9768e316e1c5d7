// max, with value and index, and iamax on the host: our executors, the peers, the limit.
#include "bench/lane.hpp"

namespace bench {

constexpr lane lanes[] = {
    {.name = "max",
     .on_all_threads = true,
     .offset = of_malloc,
     .what = operation::max,
     .sizes = sizes_of_one,
     .ways = ways_of_one},
    {.name = "iamax",
     .on_all_threads = true,
     .offset = of_malloc,
     .what = operation::iamax,
     .sizes = sizes_of_one,
     .ways = ways_of_one},
};
const std::span<const lane> extremum_lanes = lanes;

}  // namespace bench
