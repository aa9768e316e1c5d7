#pragma once

#include "backends/backend.hpp"

namespace tally::backends::cuda {

stray_key histogram(const executor& where, const histogram_arguments& arguments);

}  // namespace tally::backends::cuda
