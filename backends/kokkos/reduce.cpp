#include "backends/kokkos/reduce.hpp"

#include <tally/error.hpp>

namespace tally::backends::kokkos {

void reduce(const executor&, const reduce_arguments&) { throw error(errc::missing_backend, "reduce on kokkos"); }

}  // namespace tally::backends::kokkos
