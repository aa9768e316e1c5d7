#pragma once

#include "backends/backend.hpp"

namespace tally::backends::simd {

stray_key histogram(const executor& where, const histogram_arguments& arguments);

}  // namespace tally::backends::simd
