#include "backends/kokkos/kokkos.hpp"

#include "backends/common/elementwise/two_calls.hpp"
#include "backends/common/order/each_dot.hpp"
#include "backends/kokkos/regions.hpp"
#include "backends/kokkos/runtime.hpp"

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

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
    return true;  // device addresses that the core can't tell from the host's
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
    .dot = from_anywhere<dot>,
    .multi_dot = from_anywhere<multi_dot>,
    .reduce = from_anywhere<reduce>,
    .sum_interval = from_anywhere<sum_interval>,
    .sum_node = from_anywhere<sum_node>,
    .join_nodes = from_anywhere<join_nodes>,
    .join_words = from_anywhere<join_words>,
    .exact = from_anywhere<exact>,
    .exact_sums = from_anywhere<each_exact<exact>>,
    .round_words = from_anywhere<round_words>,
    .transform = from_anywhere<transform>,
    .fused_dot = fused_in_two_calls,
    .fused_nrm2 = fused_in_two_calls,
    .fill = from_anywhere<fill>,
    .swap = from_anywhere<swap>,
    .gather = from_anywhere<gather>,
    .scatter = from_anywhere<scatter>,
    .for_each_part = for_each_part,
    .extremum = from_anywhere<extremum>,
    .histogram = from_anywhere<histogram>,
    .spmv = from_anywhere<spmv>,
    .analyse = from_anywhere<analyse>,
    .transpose = from_anywhere<transpose>,
    .find_defect = from_anywhere<find_defect>,
};

}  // namespace tally::backends::kokkos
