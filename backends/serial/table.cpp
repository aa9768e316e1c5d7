#include "backends/serial/serial.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/elementwise/two_calls.hpp"
#include "backends/common/order/each_dot.hpp"
#include "backends/common/order/interval_numbers.hpp"

namespace tally::backends::serial {

const backend table = {
    .name = "serial",
    .describe = *[](const executor&) { return std::string(); },
    .make = *[] { return tally::serial(); },
    .reaches = host_reaches,
    .allocate = allocate,
    .deallocate = deallocate,
    .copy_bytes = copy_bytes,
    .pin = pin,
    .unpin = unpin,
    .make_staged = make_staged,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .sum_interval = sum_interval_by_numbers<multi_dot, reduce, fetch_on_host>,
    .sum_node = sum_node,
    .join_nodes = join_nodes,
    .join_words = join_words,
    .exact = exact,
    .exact_sums = each_exact<exact>,
    .round_words = round_words,
    .transform = transform,
    .fused_dot = fused_in_two_calls,
    .fused_nrm2 = fused_in_two_calls,
    .fill = fill,
    .swap = swap,
    .gather = gather,
    .scatter = scatter,
    .for_each_part = for_each_part,
    .extremum = extremum,
    .histogram = histogram,
    .spmv = spmv,
    .analyse = analyse,
    .transpose = transpose,
    .find_defect = find_defect,
};

}  // namespace tally::backends::serial
