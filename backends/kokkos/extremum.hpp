#pragma once

#include "backends/backend.hpp"

namespace tally::backends::kokkos {

void extremum(const executor& where, const extremum_arguments& arguments);

}  // namespace tally::backends::kokkos
