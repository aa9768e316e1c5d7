// The serial backend: plain loops on one thread, the reference to read first.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

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
sum_node_operation sum_node;
void sum_node_of_products(const node_arguments& a);
void sum_node_of_elements(const node_arguments& a);
join_nodes_operation join_nodes;
join_words_operation join_words;
exact_row exact;
round_words_operation round_words;
transform_operation transform;
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

}  // namespace tally::backends::serial
