// The CUDA backend: each operation as kernels on an NVIDIA GPU. For the rest of CUDA:
// runtime/device.hpp.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

extern const backend table;

allocate_operation allocate;
deallocate_operation deallocate;
copy_bytes_operation copy_bytes;
pin_operation pin;
unpin_operation unpin;
make_staged_operation make_staged;
dot_operation dot;
multi_dot_operation multi_dot;
reduce_operation reduce;
sum_interval_operation sum_interval;
sum_node_operation sum_node, sum_node_of_products, sum_node_of_elements;
join_nodes_operation join_nodes;
join_words_operation join_words;
exact_row exact;
exact_sums_operation exact_sums;
round_words_operation round_words;
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
transpose_operation transpose;
find_defect_operation find_defect;

}  // namespace tally::backends::cuda
