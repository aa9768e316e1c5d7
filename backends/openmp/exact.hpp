#pragma once

#include "backends/backend.hpp"

namespace tally::backends::openmp {

void exact(const executor& where, const exact_arguments& arguments);

}  // namespace tally::backends::openmp
