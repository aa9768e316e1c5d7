#include "backends/kokkos/exact.hpp"

#include <tally/error.hpp>

namespace tally::backends::kokkos {

void exact(const executor&, const exact_arguments&) { throw error(errc::missing_backend, "exact on kokkos"); }

}  // namespace tally::backends::kokkos
