// Settings of libtally_blas, read from the environment at the first call; counts of calls;
// failures.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/executor.hpp>

#include <atomic>
#include <cstddef>

namespace tally::blas {

/// Routines whose calls are counted, without their types.
enum class routine { dot, asum, nrm2, iamax, axpy, axpby, scal, copy, swap, gemv };
inline constexpr const char* routine_names[] = {"dot",   "asum", "nrm2", "iamax", "axpy",
                                                "axpby", "scal", "copy", "swap",  "gemv"};

/// TALLY_BLAS_EXECUTOR, TALLY_BLAS_GRADE and TALLY_BLAS_VERBOSE.
struct settings {
  /// Reads the environment; a wrong value ends the program.
  settings();

  executor one_thread = simd();  ///< takes what no other executor can
  executor few = one_thread;     ///< of operands below `many_from`
  executor many = one_thread;    ///< of longer ones
  std::size_t many_from = 0;     ///< bytes
  tally::grade grade = {};       ///< of sums
  bool verbose = false;          ///< whether calls are counted

  /// The executor of operands of that size.
  const executor& where(std::size_t bytes) const noexcept { return bytes < many_from ? few : many; }
};

/// The settings. Programs call BLAS before constructors of this library may have run.
inline const settings& set() {
  static const settings all;
  return all;
}

/// Kernels of short calls, which need no more of the settings: null until these are read, and where
/// calls are counted, sums exact, or operands maybe in a device's memory.
inline constinit std::atomic<const detail::level_one_kernels*> usual_kernels = nullptr;

/// Counts a call from the code at `caller`.
void count(routine called, std::ptrdiff_t elements, const void* caller) noexcept;

/// Prints a line and aborts: routines of BLAS return no errors.
[[noreturn]] void stop(const char* subject, const char* message) noexcept;

/// What follows a failed attempt.
enum class next { on_one_thread, element_by_element };

/// Returns what to do after the exception that is being handled; stops where that is nothing.
next after_failure(routine failed) noexcept;

/// Runs call(executor), which throws before it writes. Returns false if operands overlap.
template <class F>
[[gnu::always_inline]] inline bool run(routine called, std::size_t bytes, const F& call) noexcept {
  const settings& s = set();
  for (const executor* where = &s.where(bytes);; where = &s.one_thread) {
    try {
      call(*where);
      return true;
    } catch (...) {
      if (after_failure(called) == next::element_by_element) return false;
    }
  }
}

}  // namespace tally::blas
