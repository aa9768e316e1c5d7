#include "backends/backend.hpp"
#include "backends/simd/dot.hpp"

namespace tally::backends::simd {

const backend table = {
    .name = "simd",
    .describe = *[](const executor& where) { return std::string(name(where.instructions())); },
    .reaches = host_reaches,
    .dot = dot,
};

}  // namespace tally::backends::simd
