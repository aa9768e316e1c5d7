#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

void reduce(const executor& where, const reduce_arguments& arguments);

}  // namespace tally::backends::cuda
