// The caller's floating-point environment doesn't reach the result, and is found again as it was.
#include "tests/data.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <complex>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

class Environment : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  }
  void TearDown() override {
    std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
    _mm_setcsr(0x1f80);
#endif
  }
  static constexpr std::size_t n = 100003;
  const std::vector<double> x = golden::doubles(n, 1), y = golden::doubles(n, 2);
  const std::vector<double> small_x = golden::doubles(n, 3, -520, 8),
                            small_y = golden::doubles(n, 4, -550, 8);
};

TEST_P(Environment, RoundingModeDoesNotMatterAndStays) {
  const auto want = std::bit_cast<std::uint64_t>(tally::dot(where(), x, y));
  // Complex sums are combined by two more operations.
  std::vector<std::complex<double>> w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = {y[i], x[n - 1 - i]};
  const auto want_w = tally::dot(where(), w, w);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = std::bit_cast<std::uint64_t>(tally::dot(where(), x, y));
    const auto got_w = tally::dot(where(), w, w);
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, want);
    EXPECT_EQ(data::bits(got_w), data::bits(want_w));
  }
}

#if defined(__x86_64__)
TEST_P(Environment, FlushToZeroDoesNotMatterAndStays) {
  const auto want = std::bit_cast<std::uint64_t>(tally::dot(where(), small_x, small_y));
  ASSERT_NE(want, 0u);
  const unsigned flushing = 0x1f80 | 0x8040;  // FTZ, DAZ
  _mm_setcsr(flushing);
  const auto got = std::bit_cast<std::uint64_t>(tally::dot(where(), small_x, small_y));
  const unsigned after = _mm_getcsr();
  _mm_setcsr(0x1f80);
  EXPECT_EQ(after & ~0x3fu, flushing);
  EXPECT_EQ(got, want);
}

TEST_P(Environment, UnmaskedTrapsDoNotFire) {
  const std::vector<double> huge(100, 1e300);
  _mm_setcsr(0x1f80 & ~0x1f80u);  // every exception would raise a signal
  const double got = tally::dot(where(), huge, huge);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(0x1f80);
  EXPECT_EQ(after & 0x1f80u, 0u);
  EXPECT_EQ(got, std::numeric_limits<double>::infinity());
}
#endif

TALLY_ON_EVERY_EXECUTOR(Environment);

}  // namespace
