#include "backends/simd/vectors/instruction_set.hpp"

#include "backends/simd/scalable/chunks.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif
#if TALLY_HAS_SCALABLE
#include <sys/auxv.h>
#endif

namespace tally::backends::simd {
namespace {

/// Whether this processor executes AVX-512 in halves (Zen 4: in family 0x19, the only one with
/// AVX-512). AVX2 is faster there from memory and for short calls (tuning/dot.md: halves_avx512);
/// `for_cached` and `for_arithmetic` choose AVX-512 for the rest.
bool halves_avx512() {
#if HWY_ARCH_X86
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_AMD_ebx) return false;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
  return (eax >> 8 & 0xf) + (eax >> 20 & 0xff) == 0x19;
#else
  return false;
#endif
}

/// Returns Highway's targets that this processor and system can run, of those known here.
///
/// Not Highway's `SupportedTargets`, a library function: a program may export one of another
/// release, with other target numbers. Tally uses Highway's templates alone.
std::int64_t supported_targets() {
  std::int64_t targets = HWY_STATIC_TARGET;  // allowed by the compiler's flags
#if HWY_ARCH_X86
  __builtin_cpu_init();  // a program's constructors may call this
  unsigned eax, ebx, ecx = 0, edx;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  const bool sse4 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
                    __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                    (ecx & bit_F16C) != 0;  // clang 14 doesn't know "f16c"
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  targets |= (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx3 ? HWY_AVX3 : 0);
#endif
  return targets;
}

/// Bytes of a scalable vector; 0 without.
std::size_t scalable_bytes() {
#if TALLY_HAS_SCALABLE
  constexpr unsigned long sve = 1ul << 22;           // HWCAP_SVE
  constexpr unsigned long rvv = 1ul << ('v' - 'a');  // COMPAT_HWCAP_ISA_V
  if ((getauxval(AT_HWCAP) & (TALLY_HAS_SVE ? sve : rvv)) != 0) return scalable::vector_bytes();
#endif
  return 0;
}

#if HWY_ARCH_X86
bool has_fast_gathers() {
  constexpr unsigned avx512_fp16 = 1u << 23;
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx) return false;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & avx512_fp16) != 0;
}
#endif

instruction_set best_of(const std::vector<instruction_set>& sets) {
  const auto avx2 = std::ranges::find(sets, instruction_set::avx2);
  if (sets.back() == instruction_set::avx512 && avx2 != sets.end() && halves_avx512()) return *avx2;
  return widest(instruction_set::best);
}

}  // namespace

const std::vector<instruction_set>& instruction_sets() {
  // Never destroyed: calls may come while the program ends.
  static const auto& sets = *[] {
    auto* const all = new std::vector<instruction_set>;
    auto& usable = *all;
    // One bit per target; the lowest is the widest.
    for (std::int64_t left = supported_targets() & HWY_TARGETS; left != 0; left &= left - 1) {
      usable.push_back(set_of(left & -left));
    }
    std::ranges::sort(usable);
    // NEON comes with and without AES. (clang 14 can't compile g++ 12's std::ranges::unique.)
    usable.erase(std::unique(usable.begin(), usable.end()), usable.end());
    if (scalable_bytes() > 0) usable.push_back(scalable::here);
    return all;
  }();
  return sets;
}

instruction_set resolve(instruction_set set) {
  static const instruction_set best = best_of(instruction_sets());
  if (set == instruction_set::best) return best;
  const auto& sets = instruction_sets();
  if (std::ranges::find(sets, set) == sets.end()) {
    std::string text = "tally::simd: " + std::string(name(set)) +
                       " isn't built in or isn't an instruction set of this processor; there is";
    for (const instruction_set here : sets)
      text += (here == sets.front() ? " " : ", ") + std::string(name(here));
    throw error(errc::no_device, text);
  }
  return set;
}

instruction_set widest(instruction_set set) {
  static const instruction_set all = [] {
    const instruction_set last = instruction_sets().back();
    constexpr std::size_t of_neon = 16;
    return last == instruction_set::sve && scalable_bytes() <= of_neon ? instruction_set::neon
                                                                       : last;
  }();
  return set == instruction_set::best ? all : set;
}

instruction_set for_arithmetic(const executor& where) {
  return where.chooses_instructions() ? widest(instruction_set::best) : where.instructions();
}

bool reads_control_slowly() {
#if HWY_ARCH_X86
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_AMD_ebx;
#else
  return false;
#endif
}

bool gathers_fast() {
#if HWY_ARCH_X86
  static const bool fast = [] {
    const char* const chosen = std::getenv("TALLY_GATHERS");
    return has_fast_gathers() != (chosen != nullptr && std::string_view(chosen) == "other");
  }();
  return fast;
#else
  return false;
#endif
}

}  // namespace tally::backends::simd
