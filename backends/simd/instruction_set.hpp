// This header says which instruction sets the simd backend has, and which of them this processor
// can run.
#pragma once

#include <tally/executor.hpp>

#include <cstddef>
#include <vector>

namespace tally::backends::simd {

/// Returns the instruction sets that are built in and can run here, narrowest first. There is at
/// least one.
const std::vector<instruction_set>& instruction_sets();

/// Returns `set` itself, or for `best` the fastest of `instruction_sets()`.
/// @throws error no_device if it is not one of them.
instruction_set resolve(instruction_set set);

/// Returns the instruction set for functions that compute for longer than they load: that of the
/// executor, but where its choice was left to Tally the widest here, also where that runs in
/// halves. On one Zen 4 core `sigmoid` and `exp` of 10^3 to 10^6 floats take 1.5 to 1.8 times as
/// long with AVX2 as with AVX-512 (of 10^4 7.0 and 4.6 µs instead of 4.6 and 2.8), of doubles 1.6
/// to 1.7 times (21.8 and 12.6 instead of 12.6 and 7.5).
instruction_set for_arithmetic(const executor& where);

/// Returns the instruction set for sums and searches over so many bytes of `double` or `float`: the
/// same where they are in the caches. From memory AVX2 has two streams, and short calls don't ask,
/// since that takes 2 ns. On one Zen 4 core, AVX-512 before AVX2, `dot` of 1000 floats takes 46 and
/// 49 ns, of 10^6 82 and 85 us, of 300, 10^4 and 3 * 10^5 doubles 45 and 50 ns, 1.39 and 1.40 us
/// and 49 and 51 us, but of 10^6 192 and 183; `nrm2` of 1000, 10^4 and 10^6 doubles 73 and 87 ns,
/// 0.72 and 0.74 us, 82 and 83 us.
inline instruction_set for_cached(const executor& where, std::size_t bytes,
                                  std::size_t up_to = std::size_t{8} << 20) {
  constexpr std::size_t from = 2048;
  return bytes >= from && bytes <= up_to ? for_arithmetic(where) : where.instructions();
}

/// Says whether this processor's instructions of AVX-512 that gather elements take less time than a
/// load for each, in the caches, too. Intel's do from Sapphire Rapids on, the first to have
/// arithmetic of 16 bits: there 8 doubles take 5.0 cycles instead of 7.7. In processors before it a
/// mitigation in microcode makes these instructions slow, and AMD's are slower than loads.
bool gathers_fast();

/// Says whether reading the floating-point control register waits for all arithmetic before it. It
/// does on Zen 4, where a short call takes 5 ns longer for it; on a Sapphire Rapids it takes 1 ns.
bool reads_control_slowly();

}  // namespace tally::backends::simd
