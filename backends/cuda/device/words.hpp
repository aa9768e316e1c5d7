// Blocks hand each other sums, and the host results, as words.
#pragma once

#include <tally/words.hpp>

namespace tally::backends::cuda {

using namespace words;

}  // namespace tally::backends::cuda
