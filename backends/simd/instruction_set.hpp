// This header says which instruction sets the simd backend has, and which of them this processor
// can run.
#pragma once

#include <tally/executor.hpp>

#include <vector>

namespace tally::backends::simd {

/// Returns the instruction sets that are built in and can run here, narrowest first. There is at
/// least one.
const std::vector<instruction_set>& instruction_sets();

/// Returns `set` itself, or for `best` the fastest of `instruction_sets()`.
/// @throws error no_device if it is not one of them.
instruction_set resolve(instruction_set set);

}  // namespace tally::backends::simd
