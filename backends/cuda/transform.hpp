#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

void transform(const executor& where, const transform_arguments& arguments);

}  // namespace tally::backends::cuda
