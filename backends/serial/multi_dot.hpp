#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

void multi_dot(const executor& where, const multi_dot_arguments& arguments);

}  // namespace tally::backends::serial
