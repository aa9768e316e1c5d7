// Kernels of vectors whose length only the processor knows: ARM's SVE and RISC-V's (RVV).
#pragma once

#include "backends/backend.hpp"

#include <tally/executor.hpp>

#include <cstddef>

// Compilers that know them, SVE in single functions.
#if defined(__aarch64__) && defined(__linux__) && __has_include(<arm_sve.h>) && \
    (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 12)
#define TALLY_HAS_SVE 1
#else
#define TALLY_HAS_SVE 0
#endif
#if defined(__riscv) && __riscv_xlen == 64 && defined(__linux__) && \
    (defined(__clang__) ? __clang_major__ >= 18 : __GNUC__ >= 14)
#define TALLY_HAS_RVV 1
#else
#define TALLY_HAS_RVV 0
#endif
#define TALLY_HAS_SCALABLE (TALLY_HAS_SVE || TALLY_HAS_RVV)

namespace tally::backends::simd::scalable {

/// The set of these kernels, and the one whose kernels do the rest.
#if TALLY_HAS_RVV
inline constexpr instruction_set here = instruction_set::rvv, rest = instruction_set::baseline;
#else
inline constexpr instruction_set here = instruction_set::sve, rest = instruction_set::neon;
#endif

#if TALLY_HAS_SCALABLE

// Pre: the processor has such vectors.

/// Bytes of one, on this thread.
std::size_t vector_bytes();

// Instantiated for float and double, in the default environment.

/// Sums of at most a chunk, never -0.
template <class W>
W dot_of_chunk(const W* x, const W* y, std::size_t n);
template <reduction what, class W>
W sum_of_chunk(const W* x, std::size_t n);

/// z_i = alpha * x_i + beta * y_i. z is x, y, or shares no element with them.
template <class W>
void axpby(W alpha, const W* x, W beta, const W* y, W* z, std::size_t n);

#endif

}  // namespace tally::backends::simd::scalable
