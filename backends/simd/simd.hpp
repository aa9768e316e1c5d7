// The simd column has vector instructions on one thread, chosen at run time. It calls the serial
// column where vectors gain nothing.
#pragma once

#include "src/core/table.hpp"

namespace tally::backends::simd {

extern const backend table;

dot_row dot;
multi_dot_row multi_dot;
reduce_row reduce;
exact_row exact;
transform_row transform;
extremum_row extremum;
histogram_row histogram;
spmv_row spmv;
analyse_row analyse;

}  // namespace tally::backends::simd
