// The thresholds of `automatic()`.
#pragma once

#include <cstddef>

namespace tally {

/// Operands of this many bytes or more, together, run on `openmp`, shorter ones on `simd`.
inline constexpr std::size_t openmp_from_bytes = std::size_t{1} << 20;  // TODO measured

}  // namespace tally
