// Instruction sets of the simd backend. To be included before any other header of Highway by
// sources for several targets.
#pragma once

// Others (SSSE3, AVX-512 with VBMI or BF16) gain nothing for sums of products, and take seconds to
// compile. Lengths of SVE and RISC-V vectors are unknown at compile time, but kernels keep arrays
// of vectors: some for these are in scalable/. Sanitizer builds have only the least and the widest.
#if TALLY_FEW_INSTRUCTION_SETS
#define TALLY_HWY_TARGETS                                                                       \
  (HWY_SCALAR | HWY_EMU128 | HWY_SSE2 | HWY_AVX3 | HWY_NEON | HWY_NEON_WITHOUT_AES | HWY_PPC8 | \
   HWY_PPC9 | HWY_PPC10)
#else
#define TALLY_HWY_TARGETS                                                           \
  (HWY_SCALAR | HWY_EMU128 | HWY_SSE2 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | \
   HWY_NEON_WITHOUT_AES | HWY_PPC8 | HWY_PPC9 | HWY_PPC10)
#endif
// Clang 22 dropped the feature evex512, and ignores attributes that name it, as Highway's before
// 1.4 do: AVX-512 can't be compiled.
#include <hwy/base.h>
#if HWY_COMPILER_CLANG >= 2200 && HWY_MAJOR == 1 && HWY_MINOR < 4
#define HWY_DISABLED_TARGETS (~(TALLY_HWY_TARGETS & ~HWY_AVX3))
#else
#define HWY_DISABLED_TARGETS (~TALLY_HWY_TARGETS)
#endif

// Every 64-bit ARM processor has NEON, and little-endian POWER ones VSX, so there is no choice at
// run time. Highway must not compile NEON with AES: an implicit default constructor of a struct of
// vectors would lack it, and GCC 12 can't inline Highway's into it ("target specific option
// mismatch"). Where Highway can't query the processor it keeps to the flags.
#if defined(__aarch64__) || defined(__powerpc64__)
#define TOOLCHAIN_MISS_SYS_AUXV_H 1
#endif

#include <hwy/detect_targets.h>

// Unknown to Highway 1.0.3; its macros name them below.
#ifndef HWY_SSE2
#define HWY_SSE2 HWY_SCALAR
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES HWY_NEON
#endif
#ifndef HWY_PPC8
#define HWY_PPC8 0
#endif
#ifndef HWY_PPC9  // nor to those before 1.1
#define HWY_PPC9 0
#define HWY_PPC10 0
#endif

#include <hwy/targets.h>

#include "backends/simd/scalable/chunks.hpp"

#include <tally/executor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tally::backends::simd {

constexpr instruction_set set_of(std::int64_t target) {
  switch (target) {
    case HWY_SSE4:
      return instruction_set::sse4;
    case HWY_AVX2:
      return instruction_set::avx2;
    case HWY_AVX3:
      return instruction_set::avx512;
    case HWY_NEON:
      return instruction_set::neon;
    default:
      return target == HWY_NEON_WITHOUT_AES ? instruction_set::neon : instruction_set::baseline;
  }
}

/// Implementations by instruction set, null for those not built, which no executor has. SVE and RVV
/// have those that do the rest for them.
template <class T, std::size_t n>
constexpr auto by_set(const T* const (&built)[n]) {
  std::array<const T*, static_cast<std::size_t>(instruction_set::rvv) + 1> of_set{};
  for (const T* each : built) of_set[static_cast<std::size_t>(each->set)] = each;
  of_set[static_cast<std::size_t>(scalable::here)] =
      of_set[static_cast<std::size_t>(scalable::rest)];
  return of_set;
}

}  // namespace tally::backends::simd
