// Protection from the caller's rounding mode, flush-to-zero (as with -ffast-math) and traps. Public
// functions set the default environment before they compare arguments.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// Forces `value` to be computed before the environment changes. For results in registers:
/// compilers move arithmetic across the change (clang 23 does).
template <class T>
T settled(T value) {
  if constexpr (!std::is_integral_v<T>) {
#if defined(__x86_64__) || defined(_M_X64)
    asm volatile("" : "+x"(value));
#elif defined(__aarch64__)
    asm volatile("" : "+w"(value));
#else
    asm volatile("" : "+m"(value));
#endif
  }
  return value;
}

/// Rounding to nearest, subnormals and masked traps for this thread; a backend's threads need their
/// own. The register is written only if not the default, since that flushes the pipeline.
class default_environment {
 public:
#if defined(__x86_64__) || defined(_M_X64)
  default_environment() : saved_(_mm_getcsr()), changed_((saved_ & ~status) != standard) {
    if (changed_) _mm_setcsr(standard | (saved_ & status));
  }
  ~default_environment() {
    // Flags raised before or meanwhile stay raised.
    if (changed_ || lowered()) {
      _mm_setcsr((saved_ & ~status) | ((saved_ | _mm_getcsr()) & status));
    }
  }

 private:
  static constexpr std::uint32_t status = 0x3f;  // sticky exception flags
  // Traps masked, to nearest, no FTZ, no DAZ.
  static constexpr std::uint32_t standard = 0x1f80;
  /// Whether earlier flags are lowered, which only clang's OpenMP does, after regions of one
  /// thread.
  bool lowered() const {
#if defined(__clang__)
    return (saved_ & status) != 0 && (saved_ & ~_mm_getcsr() & status) != 0;
#else
    return false;
#endif
  }
  std::uint32_t saved_;
#elif defined(__aarch64__)
  default_environment() : saved_(read()), changed_((saved_ & control) != 0) {
    if (changed_) write(saved_ & ~control);
  }
  ~default_environment() {
    if (changed_) write(saved_);
  }

 private:
  // AH, FIZ, NEP, trap enables, FZ16, rounding mode, FZ. Not DN: NaN results are canonicalised.
  static constexpr std::uint64_t control = 0x01c89f07;
  static std::uint64_t read() {
    std::uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  static void write(std::uint64_t fpcr) { asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory"); }
  std::uint64_t saved_;
#else
  default_environment() : changed_(std::fegetround() != FE_TONEAREST || may_trap()) {
    if (changed_) {
      std::feholdexcept(&saved_);
      std::fesetround(FE_TONEAREST);
    }
  }
  ~default_environment() {
    if (changed_) std::fesetenv(&saved_);
  }

 private:
  static bool may_trap() {
#if defined(__GLIBC__)
    return fegetexcept() != 0;
#else
    return true;  // only glibc tells
#endif
  }
  std::fenv_t saved_;
#endif

 public:
  default_environment(const default_environment&) = delete;
  default_environment& operator=(const default_environment&) = delete;

 private:
  bool changed_;
};

}  // namespace tally::backends
