// The simd backend: vector instructions on one thread, chosen at run time; the serial backend where
// they gain nothing.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::simd {

extern const backend table;

dot_operation dot;
multi_dot_operation multi_dot;
reduce_operation reduce;
exact_row exact;
transform_operation transform;
fused_dot_operation fused_dot;
fused_nrm2_operation fused_nrm2;
fill_operation fill;
swap_operation swap;
extremum_operation extremum;
histogram_operation histogram;
spmv_operation spmv;
analyse_operation analyse;

}  // namespace tally::backends::simd
