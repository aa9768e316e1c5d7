#pragma once

#include "backends/backend.hpp"

namespace tally::backends::kokkos {

void reduce(const executor& where, const reduce_arguments& arguments);

}  // namespace tally::backends::kokkos
