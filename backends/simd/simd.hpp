// The simd backend: vector instructions on one thread, chosen at run time; the serial backend where
// they gain nothing.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::simd {

extern const backend table;

dot_row dot;
multi_dot_row multi_dot;
reduce_row reduce;
exact_row exact;
transform_row transform;
fused_dot_row fused_dot;
fused_nrm2_row fused_nrm2;
fill_row fill;
swap_row swap;
extremum_row extremum;
histogram_row histogram;
spmv_row spmv;
analyse_row analyse;

}  // namespace tally::backends::simd
