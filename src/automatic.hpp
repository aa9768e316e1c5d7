// Thresholds and choices of automatic().
#pragma once

#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>

#include <cstddef>

namespace tally {

/// Minimum bytes of all operands for `openmp`, else `simd` (tuning/automatic.md:
/// openmp_from_bytes). Measured by `bench/run --calibrate`.
inline constexpr std::size_t openmp_from_bytes = std::size_t{1} << 20;

/// `choose` for host-accessible operands, else null. No copy (tuning/short_calls.md:
/// choose_on_host).
const executor* choose_on_host(const operand& x);
const executor* choose_on_host(const operand& x, const operand& y);
const executor* choose_on_host(const operand& x, const operand& y, const operand& z);
const executor* choose_on_host(const operand& x, const operand& y, const operand& w,
                               const operand& z);

}  // namespace tally
