// The caller's functions on Kokkos's threads, where those are the host's.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"

#include <tally/error.hpp>

#include <string>

namespace tally::backends::kokkos {
namespace {

/// Elements of a part, a node of the tree.
constexpr std::size_t part_size = 64 * order::chunk;

struct run_part {
  part_calls calls;
  std::size_t size;

  void operator()(std::size_t part) const {
    const default_environment environment;
    const std::size_t first = part * part_size;
    calls.run(calls.context, part, first, std::min(part_size, size - first));
  }
};

}  // namespace

void for_each_part(const executor&, const char* function, [[maybe_unused]] std::size_t size,
                   [[maybe_unused]] const part_calls& calls) {
  if constexpr (on_host) {
    const auto lock = acquire();
    const space where;
    const std::size_t parts = (size + part_size - 1) / part_size;
    calls.prepare(calls.context, parts);
    Kokkos::parallel_for("tally parts", Kokkos::RangePolicy<space>(where, 0, parts),
                         run_part{calls, size});
    where.fence();
    calls.finish(calls.context);
  } else {
    throw error(errc::invalid_argument, std::string(function) + ": Kokkos runs on " +
                                            space::name() +
                                            " here, which can't call functions of the host");
  }
}

}  // namespace tally::backends::kokkos
