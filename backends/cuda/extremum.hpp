#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

void extremum(const executor& where, const extremum_arguments& arguments);

}  // namespace tally::backends::cuda
