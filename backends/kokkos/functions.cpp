// The caller's functions on the host, outside Kokkos's kernels: Kokkos locks an instance of its
// execution space while a kernel runs, so a function that calls Kokkos, or waits for a thread that
// does, would deadlock.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"
#include "backends/serial/serial.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#endif

#include <tally/error.hpp>

#include <string>

namespace tally::backends::kokkos {

void for_each_part(const executor& where, const char* function, std::size_t size,
                   const part_calls& calls) {
  if (!on_host) {
    throw error(errc::invalid_argument, std::string(function) + ": Kokkos runs on " +
                                            space::name() +
                                            " here, which can't call functions of the host");
  }
  (void)acquire();  // throws if unusable
#if TALLY_HAS_OPENMP && defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<space, Kokkos::OpenMP>) {  // its threads are OpenMP's
    return openmp::for_each_part(where, function, size, calls);
  }
#endif
  serial::for_each_part(where, function, size, calls);
}

}  // namespace tally::backends::kokkos
