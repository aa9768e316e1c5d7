#pragma once

#include "backends/backend.hpp"

namespace tally::backends::kokkos {

void for_each_part(const executor& where, const char* function, std::size_t size,
                   const part_calls& calls);

}  // namespace tally::backends::kokkos
