#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

void dot(const executor& where, const dot_arguments& arguments);

}  // namespace tally::backends::cuda
