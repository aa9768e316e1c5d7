#include "backends/openmp/openmp.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/order/each_dot.hpp"
#include "backends/common/order/interval_numbers.hpp"
#include "backends/openmp/threads.hpp"
#include "backends/serial/serial.hpp"
#include "backends/simd/simd.hpp"

namespace tally::backends::openmp {
namespace {

std::string describe(const executor& where) {
  const int threads = max_threads_of(where);
  return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
         std::string(name(where.instructions()));
}

}  // namespace

const backend table = {
    .name = "openmp",
    .describe = describe,
    .make = *[] { return tally::openmp(); },
    .reaches = host_reaches,
    .allocate = serial::allocate,
    .deallocate = serial::deallocate,
    .copy_bytes = serial::copy_bytes,
    .pin = serial::pin,
    .unpin = serial::unpin,
    .make_staged = serial::make_staged,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .sum_interval = sum_interval_by_numbers<multi_dot, reduce, fetch_on_host, simd::reduce>,
    .sum_node = serial::sum_node,
    .join_nodes = serial::join_nodes,
    .join_words = serial::join_words,
    .exact = exact,
    .exact_sums = each_exact<exact>,
    .round_words = serial::round_words,
    .transform = transform,
    .fused_dot = fused_dot,
    .fused_nrm2 = fused_nrm2,
    .fill = fill,
    .swap = swap,
    .gather = gather,
    .scatter = scatter,
    .for_each_part = for_each_part,
    .extremum = extremum,
    .histogram = histogram,
    .spmv = spmv,
    .analyse = analyse,
    .transpose = serial::transpose,
    .find_defect = find_defect,
};

}  // namespace tally::backends::openmp
