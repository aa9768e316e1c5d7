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

/// Says whether this processor's instructions of AVX-512 that gather elements take less time than a
/// load for each, in the caches, too. Intel's do from Sapphire Rapids on, the first to have
/// arithmetic of 16 bits: there 8 doubles take 5.0 cycles instead of 7.7. In processors before it a
/// mitigation in microcode makes these instructions slow, and AMD's are slower than loads.
bool gathers_fast();

}  // namespace tally::backends::simd
