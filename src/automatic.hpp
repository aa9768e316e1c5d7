// automatic(): its thresholds, and what it runs on.
#pragma once

#include <tally/executor.hpp>
#include <tally/operand.hpp>

#include <cstddef>

namespace tally {

/// Operands of this many bytes or more, together, run on `openmp`, shorter ones on `simd`.
inline constexpr std::size_t openmp_from_bytes = std::size_t{1} << 20;  // TODO measured

/// `choose`, without a copy (of 40 bytes, which cost a short call 10 ns), for operands that the host
/// reaches; null for others.
const executor* choose_on_host(const operand& x, const operand& y);

}  // namespace tally
