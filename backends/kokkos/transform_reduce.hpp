#pragma once

#include "backends/backend.hpp"

namespace tally::backends::kokkos {

void transform_reduce(const executor& where, const char* function, std::size_t size,
                      const part_calls& calls);

}  // namespace tally::backends::kokkos
