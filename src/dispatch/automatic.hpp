// automatic(): its thresholds, and what it runs on.
#pragma once

#include <tally/executor.hpp>
#include <tally/operand.hpp>

#include <cstddef>

namespace tally {

/// Operands of this many bytes or more, together, run on `openmp`, shorter ones on `simd`. While
/// OpenMP's threads still spin, two of Zen 3 are even with one at 256 KiB (2.3 against 2.5 us) and
/// nearly twice as fast at 768 KiB (5.8 against 10.2), 16 of a Xeon even at 270 (axpy) to 640 KiB
/// (dot of float). Threads that sleep take some us to wake, and more of them longer: after a pause
/// these 16 are even at 2.3 to 4.6 MiB. `bench/run --calibrate` measures both.
inline constexpr std::size_t openmp_from_bytes = std::size_t{1} << 20;

/// `choose`, without a copy (of 40 bytes, which cost a short call 10 ns), for operands that the
/// host reaches; null for others.
const executor* choose_on_host(const operand& x);
const executor* choose_on_host(const operand& x, const operand& y);
const executor* choose_on_host(const operand& x, const operand& y, const operand& z);

}  // namespace tally
