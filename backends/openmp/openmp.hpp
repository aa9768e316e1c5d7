// The openmp backend: each thread runs the simd backend's kernels on a part.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::openmp {

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
gather_row gather;
gather_row scatter;
for_each_part_row for_each_part;
extremum_row extremum;
histogram_row histogram;
spmv_row spmv;
analyse_row analyse;
find_defect_row find_defect;

}  // namespace tally::backends::openmp
