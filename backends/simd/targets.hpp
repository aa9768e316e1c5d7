// This header says for which instruction sets the simd column is compiled. A source that compiles
// for several must include it before any other header of Highway's.
#pragma once

// Only these are compiled. What lies between them brings a sum of products nothing (SSSE3, AVX-512
// with VBMI or BF16), and each costs seconds of compile time. The length of SVE's and RISC-V's
// vectors is not known at compile time, and these kernels keep arrays of vectors.
// Builds with sanitizers leave out what lies between the least and the widest, which takes them
// minutes.
#if TALLY_FEW_INSTRUCTION_SETS
#define TALLY_HWY_TARGETS \
  (HWY_SCALAR | HWY_EMU128 | HWY_SSE2 | HWY_AVX3 | HWY_NEON | HWY_NEON_WITHOUT_AES)
#else
#define TALLY_HWY_TARGETS                                                           \
  (HWY_SCALAR | HWY_EMU128 | HWY_SSE2 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | \
   HWY_NEON_WITHOUT_AES)
#endif
// Clang 22 dropped the feature evex512, and with it all of an attribute that names it, as those of
// Highway before 1.4 do: there AVX-512 can't be compiled.
#include <hwy/base.h>
#if HWY_COMPILER_CLANG >= 2200 && HWY_MAJOR == 1 && HWY_MINOR < 4
#define HWY_DISABLED_TARGETS (~(TALLY_HWY_TARGETS & ~HWY_AVX3))
#else
#define HWY_DISABLED_TARGETS (~TALLY_HWY_TARGETS)
#endif

// Every 64-bit ARM processor has NEON, so nothing is chosen at run time there. Highway must not
// compile NEON for processors with AES: a default constructor that GCC makes by itself, of a struct
// with vectors in it, would lack that, and GCC 12 can't inline Highway's into it ("target specific
// option mismatch"). Highway leaves NEON at what the flags allow where it can't ask the processor.
#if defined(__aarch64__)
#define TOOLCHAIN_MISS_SYS_AUXV_H 1
#endif

#include <hwy/detect_targets.h>

// Highway 1.0.3 doesn't know these two yet. Highway's macros name them from here on.
#ifndef HWY_SSE2
#define HWY_SSE2 HWY_SCALAR
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES HWY_NEON
#endif

#include <hwy/targets.h>

#include <tally/executor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tally::backends::simd {

/// Returns the instruction set that stands for one of Highway's targets.
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

/// Holds what was built for each instruction set. An entry is null for those that this build lacks,
/// which no executor has.
template <class T, std::size_t n>
constexpr auto by_set(const T* const (&built)[n]) {
  std::array<const T*, static_cast<std::size_t>(instruction_set::neon) + 1> of_set{};
  for (const T* each : built) of_set[static_cast<std::size_t>(each->set)] = each;
  return of_set;
}

}  // namespace tally::backends::simd
