#include "backends/backend.hpp"
#include "backends/serial/dot.hpp"

namespace tally::backends::serial {

const backend table = {
    .name = "serial",
    .describe = *[](const executor&) { return std::string(); },
    .reaches = host_reaches,
    .dot = dot,
};

}  // namespace tally::backends::serial
