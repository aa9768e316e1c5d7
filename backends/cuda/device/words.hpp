// Tagged words of sums and results.
#pragma once

#include <tally/detail/words.hpp>

namespace tally::backends::cuda {

using namespace words;

}  // namespace tally::backends::cuda
