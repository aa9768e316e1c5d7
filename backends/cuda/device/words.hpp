// Tagged words, in which blocks hand over sums and the host gets results.
#pragma once

#include <tally/words.hpp>

namespace tally::backends::cuda {

using namespace words;

}  // namespace tally::backends::cuda
