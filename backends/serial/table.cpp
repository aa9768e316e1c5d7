#include "backends/backend.hpp"
#include "backends/serial/dot.hpp"
#include "backends/serial/exact.hpp"
#include "backends/serial/extremum.hpp"
#include "backends/serial/functions.hpp"
#include "backends/serial/histogram.hpp"
#include "backends/serial/multi_dot.hpp"
#include "backends/serial/reduce.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/serial/transform.hpp"

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
    .for_each_part = for_each_part,
    .extremum = extremum,
    .histogram = histogram,
    .spmv = spmv,
    .analyse = analyse,
    .find_defect = find_defect,
};

}  // namespace tally::backends::serial
