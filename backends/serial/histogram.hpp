#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

stray_key histogram(const executor& where, const histogram_arguments& arguments);

}  // namespace tally::backends::serial
