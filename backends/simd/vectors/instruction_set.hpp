// Instruction sets of the simd backend, and which of them this processor runs.
#pragma once

#include <tally/executor.hpp>

#include <cstddef>
#include <vector>

namespace tally::backends::simd {

/// Returns the instruction sets built in and usable here, narrowest first; at least one.
const std::vector<instruction_set>& instruction_sets();

/// Returns `set`, or for `best` the fastest of `instruction_sets()`. @throws error no_device if it
/// is not one of them.
instruction_set resolve(instruction_set set);

/// Returns `set`, or for `best` the widest, even if executed in halves; NEON where SVE's vectors
/// are no longer.
instruction_set widest(instruction_set set);

/// Returns the instruction set for compute-bound functions: the executor's, or if Tally chooses,
/// the widest, even if executed in halves (tuning/elementwise.md: for_arithmetic).
instruction_set for_arithmetic(const executor& where);

/// Returns the instruction set for sums and searches over `bytes` of `double` or `float`: in the
/// caches `for_arithmetic`'s, else the executor's: without fast gathers AVX2 alone reads memory in
/// two streams, and short calls can't afford the question (tuning/dot.md: for_cached).
inline instruction_set for_cached(const executor& where, std::size_t bytes,
                                  std::size_t up_to = std::size_t{8} << 20) {
  constexpr std::size_t from = 2048;
  return bytes >= from && bytes <= up_to ? for_arithmetic(where) : where.instructions();
}

/// Whether AVX-512 gathers beat a load per element in the caches: Intel's from Sapphire Rapids on,
/// the first with 16-bit arithmetic (tuning/spmv.md: gathers_fast). A mitigation in microcode slows
/// those before; AMD's are slower than loads. With "other" in the environment variable
/// TALLY_GATHERS the contrary, so that tests take both paths on every processor.
bool gathers_fast();

/// Whether a core reads memory faster in several streams than in one: the same processors
/// (tuning/dot.md: streams; tuning/elementwise.md: in_turns; tuning/extremum.md: apart_in_memory;
/// tuning/multi_dot.md: from_memory).
inline bool reads_in_streams() { return gathers_fast(); }
/// Whether it does for `bytes`, which its caches may hold (tuning/dot.md: reads_in_streams): of one
/// vector that a thread sums, in the width of its accumulator.
inline bool reads_in_streams(std::size_t bytes) {
  return bytes >= std::size_t{8} << 20 && reads_in_streams();
}

/// Whether reading the floating-point control register waits for all arithmetic before, as on Zen 4
/// (tuning/short_calls.md: reads_control_slowly).
bool reads_control_slowly();

}  // namespace tally::backends::simd
