#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

void exact(const executor& where, const exact_arguments& arguments);

}  // namespace tally::backends::serial
