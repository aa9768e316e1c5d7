#include "backends/backend.hpp"
#include "backends/serial/dot.hpp"
#include "backends/serial/exact.hpp"
#include "backends/serial/extremum.hpp"
#include "backends/serial/multi_dot.hpp"
#include "backends/serial/reduce.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/serial/transform.hpp"
#include "backends/serial/transform_reduce.hpp"

namespace tally::backends::serial {

const backend table = {
    .name = "serial",
    .describe = *[](const executor&) { return std::string(); },
    .reaches = host_reaches,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .exact = exact,
    .transform = transform,
    .transform_reduce = transform_reduce,
    .extremum = extremum,
    .spmv = spmv,
    .analyse = analyse,
    .find_defect = find_defect,
};

}  // namespace tally::backends::serial
