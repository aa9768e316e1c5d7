// The CUDA backend: each operation as kernels on an NVIDIA GPU. For the rest of CUDA:
// runtime/device.hpp.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

extern const backend table;

allocate_row allocate;
deallocate_row deallocate;
copy_bytes_row copy_bytes;
pin_row pin;
unpin_row unpin;
make_staged_row make_staged;
dot_row dot;
multi_dot_row multi_dot;
reduce_row reduce;
sum_interval_row sum_interval;
sum_node_row sum_node, sum_node_of_products, sum_node_of_elements;
join_nodes_row join_nodes;
join_words_row join_words;
exact_row exact;
exact_sums_row exact_sums;
round_words_row round_words;
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
transpose_row transpose;
find_defect_row find_defect;

}  // namespace tally::backends::cuda
