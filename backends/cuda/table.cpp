#include "backends/cuda/cuda.hpp"

#include "backends/cuda/functions/functions.hpp"
#include "backends/cuda/runtime/runtime.hpp"

namespace tally::backends::cuda {
namespace {

std::string describe(const executor& where) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, where.device()), "cudaGetDeviceProperties");
  return properties.name + (", device " + std::to_string(where.device()));
}

// Memory of another device is refused even where peer access could reach it: whether the program
// enabled that can't be queried cheaply, and if not, a kernel's access ends the context.
bool reaches(const executor& where, const place& memory) {
  return memory.device == where.device() || memory.device == place::every;
}

}  // namespace

const backend table = {
    .name = "cuda",
    .describe = describe,
    .make = *[] { return tally::cuda(); },
    .reaches = reaches,
    .allocate = allocate,
    .deallocate = deallocate,
    .copy_bytes = copy_bytes,
    .pin = pin,
    .unpin = unpin,
    .make_staged = make_staged,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .sum_interval = sum_interval,
    .sum_node = sum_node,
    .join_nodes = join_nodes,
    .join_words = join_words,
    .exact = exact,
    .exact_sums = exact_sums,
    .round_words = round_words,
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
    .analyse_checks = true,
    .transpose = transpose,
    .find_defect = find_defect,
};

}  // namespace tally::backends::cuda
