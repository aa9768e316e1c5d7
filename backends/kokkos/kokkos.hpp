// The kokkos backend: Kokkos's default execution space. No kernels in common with the others, which
// it checks.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::kokkos {

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
sum_node_row sum_node;
void sum_node_of_products(const node_arguments& a);
void sum_node_of_elements(const node_arguments& a);
join_nodes_row join_nodes;
join_words_row join_words;
exact_row exact;
round_words_row round_words;
transform_row transform;
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

}  // namespace tally::backends::kokkos
