#pragma once

#include "backends/backend.hpp"

namespace tally::backends::openmp {

void extremum(const executor& where, const extremum_arguments& arguments);

}  // namespace tally::backends::openmp
