// Floating-point environments of a caller.
#pragma once

#include <gtest/gtest.h>

#include <cfenv>
#include <functional>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace data {

struct environment {
  std::function<void()> set;
  std::function<int()> get;
};

inline std::vector<environment> environments() {
  std::vector<environment> all;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    all.push_back({[mode] { std::fesetround(mode); }, [] { return std::fegetround(); }});
  }
#if defined(__x86_64__)
  // FTZ and DAZ; with every trap unmasked; the traps alone.
  for (const unsigned control : {0x1f80u | 0x8040u, 0x8040u, 0u}) {
    all.push_back({[control] { _mm_setcsr(control); },
                   [] { return static_cast<int>(_mm_getcsr() & ~0x3fu); }});
  }
#endif
  return all;
}

/// Calls f in an environment, which should stay, and returns its value.
template <class F>
auto in(const environment& caller, const F& f) {
  caller.set();
  const int before = caller.get();
  auto value = f();
  const int after = caller.get();
  std::fesetenv(FE_DFL_ENV);
  EXPECT_EQ(after, before);
  return value;
}

/// Expects one value of f in every environment.
template <class F>
void expect_no_influence(const F& f) {
  const auto want = f();
  for (const environment& caller : environments()) EXPECT_EQ(in(caller, f), want);
}

}  // namespace data
