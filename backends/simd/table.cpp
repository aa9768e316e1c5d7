#include "backends/backend.hpp"
#include "backends/serial/functions.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/simd/dot.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/extremum.hpp"
#include "backends/simd/histogram.hpp"
#include "backends/simd/multi_dot.hpp"
#include "backends/simd/reduce.hpp"
#include "backends/simd/spmv.hpp"
#include "backends/simd/transform.hpp"

namespace tally::backends::simd {

const backend table = {
    .name = "simd",
    .describe = *[](const executor& where) { return std::string(name(where.instructions())); },
    .reaches = host_reaches,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .exact = exact,
    .transform = transform,
    .for_each_part = serial::for_each_part,
    .extremum = extremum,
    .histogram = histogram,
    .spmv = spmv,
    .analyse = analyse,
    .find_defect = serial::find_defect,
};

}  // namespace tally::backends::simd
