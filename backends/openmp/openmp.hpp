// The openmp backend: each thread runs the simd backend's kernels on a part.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::openmp {

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
gather_operation gather;
gather_operation scatter;
for_each_part_operation for_each_part;
extremum_operation extremum;
histogram_operation histogram;
spmv_operation spmv;
analyse_operation analyse;
find_defect_operation find_defect;

}  // namespace tally::backends::openmp
