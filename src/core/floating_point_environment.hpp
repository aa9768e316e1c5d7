// The caller's rounding mode, flush-to-zero flags and trap masks must not reach a result: a program
// that is linked with -ffast-math, say, flushes subnormals from its start. Every public function
// that computes sets them aside, before it compares arguments, so that nothing behind it has to.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// Returns a number that is computed before the environment changes next. A function that returns
/// one in a register, not in memory, needs this: compilers know nothing of the environment and move
/// arithmetic over its change (clang 23 does).
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

/// Lets this thread round to nearest, keep subnormals and trap nothing while it lives. It always
/// reads the control register, and writes it only when it is not the default already: reading costs
/// a few cycles, writing flushes the pipeline. Threads that a backend starts need one of their own.
///
/// Where the environment `is_trusted`, it is the default one by the caller's promise, and nothing
/// is read or written.
class default_environment {
 public:
#if defined(__x86_64__) || defined(_M_X64)
  explicit default_environment(bool is_trusted = false)
      : saved_(is_trusted ? standard : _mm_getcsr()), changed_((saved_ & ~status) != standard) {
    if (changed_) _mm_setcsr(standard | (saved_ & status));
  }
  ~default_environment() {
    // Flags that were raised before or meanwhile stay raised, as after any arithmetic.
    if (changed_ || lowered()) {
      _mm_setcsr((saved_ & ~status) | ((saved_ | _mm_getcsr()) & status));
    }
  }

 private:
  static constexpr std::uint32_t status = 0x3f;  // these are the sticky exception flags
  // Traps are masked, rounding is to nearest, no FTZ, no DAZ.
  static constexpr std::uint32_t standard = 0x1f80;
  /// Says whether flags that were raised before are not raised now. LLVM's OpenMP, which clang
  /// brings, lowers them at the end of a region that has one thread; no other code does.
  bool lowered() const {
#if defined(__clang__)
    return (saved_ & status) != 0 && (saved_ & ~_mm_getcsr() & status) != 0;
#else
    return false;
#endif
  }
  std::uint32_t saved_;
#elif defined(__aarch64__)
  explicit default_environment(bool is_trusted = false)
      : saved_(is_trusted ? 0 : read()), changed_((saved_ & control) != 0) {
    if (changed_) write(saved_ & ~control);
  }
  ~default_environment() {
    if (changed_) write(saved_);
  }

 private:
  // These are AH, FIZ, NEP, the trap enables, FZ16, the rounding mode and FZ. DN is left alone,
  // since a NaN result is made canonical anyway.
  static constexpr std::uint64_t control = 0x01c89f07;
  static std::uint64_t read() {
    std::uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  static void write(std::uint64_t fpcr) { asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory"); }
  std::uint64_t saved_;
#else
  explicit default_environment(bool is_trusted = false)
      : saved_(is_trusted ? FE_TONEAREST : std::fegetround()), changed_(saved_ != FE_TONEAREST) {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  ~default_environment() {
    if (changed_) std::fesetround(saved_);
  }

 private:
  int saved_;
#endif

 public:
  default_environment(const default_environment&) = delete;
  default_environment& operator=(const default_environment&) = delete;

 private:
  bool changed_;
};

}  // namespace tally::backends
