#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/runtime.hpp"

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>
#include "src/core/elementwise/two_calls.hpp"
#include "src/core/order/each_dot.hpp"

namespace tally::backends::kokkos {
namespace {

using space = Kokkos::DefaultExecutionSpace;

/// "3.4.1, OpenMP, 8 threads"
std::string describe(const executor&) {
  constexpr int version = KOKKOS_VERSION;
  std::string text = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
                     "." + std::to_string(version % 100) + ", " + space::name();
  if constexpr (std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>) {
    const auto lock = acquire();
    const auto threads = space().concurrency();
    if (threads > 1) text += ", " + std::to_string(threads) + " threads";
  }
  return text;
}

bool reaches([[maybe_unused]] const executor& where, [[maybe_unused]] const place& memory) {
  if constexpr (std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>) {
    return memory.host;
  } else {
#if defined(KOKKOS_ENABLE_CUDA) && TALLY_HAS_CUDA
    if constexpr (std::is_same_v<space, Kokkos::Cuda>) {
      const auto lock = acquire();
      return memory.device == place::every || memory.device == space().cuda_device();
    }
#endif
    return true;  // a device whose addresses the core can't tell from the host's
  }
}

}  // namespace

const backend table = {
    .name = "kokkos",
    .describe = describe,
    .make = *[] { return tally::kokkos(); },
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

}  // namespace tally::backends::kokkos
