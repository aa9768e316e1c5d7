#include "backends/backend.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/serial/transform_reduce.hpp"
#include "backends/simd/dot.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/extremum.hpp"
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
    .transform_reduce = serial::transform_reduce,
    .extremum = extremum,
    .spmv = spmv,
    .analyse = analyse,
    .find_defect = serial::find_defect,
};

}  // namespace tally::backends::simd
