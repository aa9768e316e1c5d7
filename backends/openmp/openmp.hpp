// The openmp column has OpenMP's threads, and each runs on its share what the simd column runs.
#pragma once

#include "src/core/table.hpp"

namespace tally::backends::openmp {

extern const backend table;

dot_row dot;
multi_dot_row multi_dot;
reduce_row reduce;
exact_row exact;
transform_row transform;
for_each_part_row for_each_part;
extremum_row extremum;
histogram_row histogram;
spmv_row spmv;
analyse_row analyse;
find_defect_row find_defect;

}  // namespace tally::backends::openmp
