// Which instruction sets the simd backend has, and which of them this processor can run.
#pragma once

#include <tally/executor.hpp>

#include <vector>

namespace tally::backends::simd {

/// Those built in and supported here, narrowest first. Never empty.
const std::vector<instruction_set>& instruction_sets();

/// `set` itself, or for `best` the fastest of `instruction_sets()`.
/// @throws error no_device if it is not one of them.
instruction_set resolve(instruction_set set);

}  // namespace tally::backends::simd
