// transform_reduce applies a caller's functions in the contract's order, whatever the compiler's
// flags, and hands on exceptions.
#include "tests/data.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using tally::order::chunk;

const std::vector<std::size_t> sizes =
    data::short_sizes({64 * chunk, 64 * chunk + 1, 131 * chunk + 5, 400 * chunk + 77});

template <class T>
std::vector<T> random_vector(std::size_t n, std::uint64_t seed,
                             data::kind kind = data::kind::plain) {
  const auto bytes = data::random_bytes<T>(n, seed, kind);
  std::vector<T> values(n);
  if (n > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class TransformReduce : public data::OnEveryExecutor {
 protected:
  bool calls() const { return !data::on_device(where()); }
  void SetUp() override {
    OnEveryExecutor::SetUp();
    if (!IsSkipped() && !calls()) {
      GTEST_SKIP() << "a device: see transform_reduce_device.cu, kokkos_functions.cpp";
    }
  }
};

/// Sensitive to order; the identity is not neutral.
struct mix {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u + (a >> 29);
  }
};

TEST_ON_EVERY_EXECUTOR(TransformReduce, IsInTheOrderOfTheContract) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<std::int64_t>(n, n + 1, data::kind::wide);
    const auto map = [](std::int64_t a) { return static_cast<std::uint64_t>(a) * 3 + 1; };
    const std::uint64_t identity = 0x1234567;
    const std::uint64_t expected =
        transcription::reduce(n, [&](std::size_t i) { return map(x[i]); }, identity, mix());
    EXPECT_EQ(tally::transform_reduce(where(), x, identity, mix(), map), expected) << n;
    std::uint64_t written = 1;
    tally::transform_reduce(where(), x, identity, mix(), map, &written);
    EXPECT_EQ(written, expected) << n;
  }
}

template <class T>
void expect_dot(const tally::executor& where) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<T>(2 * n + 3, n + 1), y = random_vector<T>(3 * n + 3, n + 2);
    const auto check = [&](const auto& a, const auto& b) {
      const T expected = tally::dot(where, a, b);
      const T sum = tally::transform_reduce(where, a, b, T(0), std::plus<>(), std::multiplies<>());
      EXPECT_EQ(data::bits(sum), data::bits(expected)) << n;
    };
    check(std::span(x).first(n), std::span(y).first(n));
    check(std::span(x).subspan(1, n), std::span(y).subspan(2, n));
    if (n > 0) {
      check(tally::strided(x.data() + 1, n, 2), tally::strided(y.data(), n, -3));
      check(std::span(x).first(n), tally::strided(y.data(), n, -1));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, HasDotAsOneCase) {
  expect_dot<double>(where());
  expect_dot<float>(where());
  expect_dot<std::int64_t>(where());
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, SumsSquaresOfDifferences) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<double>(n, 1), y = random_vector<double>(n, 2);
    const auto square = [](double a, double b) { return (a - b) * (a - b); };
    const double expected = transcription::sum<double>(n, [&](std::size_t i) {
      const double difference = x[i] - y[i];
      return transcription::times(difference, difference);
    });
    const double sum = tally::transform_reduce(where(), x, y, 0.0, std::plus<>(), square);
    EXPECT_EQ(data::bits(sum), data::bits(expected)) << n;
  }
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, TakesThreeInputs) {
  const auto weighted = [](double a, float b, std::int32_t w) { return w % 3 ? a * b : a - b; };
  for (const std::size_t n : sizes) {
    const auto x = random_vector<double>(n, 1);
    const auto y = random_vector<float>(2 * n, 2);
    const auto w = random_vector<std::int32_t>(n, 3);
    const auto expect = [&](std::ptrdiff_t step) {
      const double expected = transcription::sum<double>(n, [&](std::size_t i) {
        const std::size_t at = step == 1 ? i : 2 * (n - 1 - i);
        return weighted(x[i], y[at], w[i]);
      });
      const auto view = tally::strided(y.data(), n, step);
      const double sum = tally::transform_reduce(where(), x, view, w, 0.0, std::plus<>(), weighted);
      EXPECT_EQ(data::bits(sum), data::bits(expected)) << n;
      double written = 1;
      tally::transform_reduce(where(), x, view, w, 0.0, std::plus<>(), weighted, &written);
      EXPECT_EQ(data::bits(written), data::bits(expected)) << n;
    };
    expect(1);
    expect(-2);
  }
  const auto x = random_vector<std::int64_t>(3000, 4, data::kind::wide);
  const auto map = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::uint64_t>(a ^ (b >> 1)) + static_cast<std::uint64_t>(c) * 3;
  };
  const std::uint64_t expected = transcription::reduce(
      x.size(), [&](std::size_t i) { return map(x[i], x[i], x[i]); }, std::uint64_t{7}, mix());
  EXPECT_EQ(tally::transform_reduce(where(), x, x, x, std::uint64_t{7}, mix(), map), expected);
  EXPECT_EQ(tally::transform_reduce(x, x, x, std::uint64_t{7}, mix(), map), expected);
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, TakesAnySemiregularType) {
  const std::size_t n = 2 * chunk + 100;
  std::vector<std::int32_t> x(n);
  std::iota(x.begin(), x.end(), 0);
  const auto map = [](std::int32_t i) { return std::to_string(i % 10); };
  const std::string expected = transcription::reduce(
      n, [&](std::size_t i) { return map(x[i]); }, std::string("|"), std::plus<std::string>());
  EXPECT_EQ(tally::transform_reduce(where(), x, std::string("|"), std::plus<>(), map), expected);

  const auto even = [](std::int32_t i) { return i % 2 == 0; };  // bits of a vector<bool> would race
  EXPECT_FALSE(tally::transform_reduce(where(), x, true, std::logical_and<>(), even));
  EXPECT_TRUE(tally::transform_reduce(where(), x, false, std::logical_or<>(), even));
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, ConvertsTerms) {
  const auto x = random_vector<float>(3000, 4);
  const double wide =
      tally::transform_reduce(where(), x, 0.0, std::plus<>(), [](float v) { return v; });
  EXPECT_EQ(data::bits(wide), data::bits(tally::sum<double>(where(), x)));
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, HasOneNan) {
  std::vector<double> x(100, 1);
  x[7] = -std::numeric_limits<double>::quiet_NaN();
  const auto same = [](double v) { return v; };
  const double nan = tally::transform_reduce(where(), x, 0.0, std::plus<>(), same);
  EXPECT_EQ(data::bits(nan), (std::array<std::uint64_t, 1>{0x7ff8000000000000u}));
  const auto complex = [](double v) { return std::complex<double>(1, v); };
  const auto both =
      tally::transform_reduce(where(), x, std::complex<double>(), std::plus<>(), complex);
  EXPECT_EQ(both.real(), 100);
  EXPECT_EQ(data::bits(both.imag()), (std::array<std::uint64_t, 1>{0x7ff8000000000000u}));
}

#if defined(__x86_64__)
TEST_ON_EVERY_EXECUTOR(TransformReduce, SetsTheCallersEnvironmentAside) {
  const std::vector<double> x(5000, 1e-310);
  const auto twice = [](double v) { return 2 * v; };
  const double expected = tally::transform_reduce(where(), x, 0.0, std::plus<>(), twice);
  ASSERT_GT(expected, 0);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | 0x6000);  // flush to zero, towards zero
  const double sum = tally::transform_reduce(where(), x, 0.0, std::plus<>(), twice);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(data::bits(sum), data::bits(expected));
  EXPECT_EQ(after & ~0x3fu, (before | 0x8040 | 0x6000) & ~0x3fu);
}
#endif

TEST_ON_EVERY_EXECUTOR(TransformReduce, ReturnsWhatTheFunctionsThrow) {
  std::vector<std::int32_t> x(300 * chunk, 1);
  x[77 * chunk + 5] = 0;
  const auto map = [](std::int32_t v) {
    if (v == 0) throw std::domain_error("zero");
    return v;
  };
  EXPECT_THROW((void)tally::transform_reduce(where(), x, 0, std::plus<>(), map), std::domain_error);
  const auto reduce = [](int a, int b) {
    if (a > 1024) throw std::overflow_error("too many");
    return a + b;
  };
  int result = 5;
  EXPECT_THROW(tally::transform_reduce(
                   where(), x, 0, reduce, [](int v) { return v; }, &result),
               std::overflow_error);
  EXPECT_EQ(result, 5);
}

TEST_ON_EVERY_EXECUTOR(TransformReduce, NamesBadInput) {
  const std::vector<double> x(5), y(6);
  const auto call = [&](auto&&... operands) {
    try {
      (void)tally::transform_reduce(where(), operands..., 0.0, std::plus<>(), std::multiplies<>());
    } catch (const tally::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(call(x, y), "tally::transform_reduce: x has 5 elements, y has 6");
  EXPECT_THROW((void)tally::transform_reduce(where(), x, x, y, 0.0, std::plus<>(),
                                             [](double, double, double) { return 1.0; }),
               tally::error);
  EXPECT_EQ(call(tally::strided(x.data(), 5, 0), x), "tally::transform_reduce: x has increment 0");
  EXPECT_NE(call(x, std::span<const double>(static_cast<const double*>(nullptr), 5)), "");
  double* nowhere = nullptr;
  EXPECT_THROW(tally::transform_reduce(where(), x, 0.0, std::plus<>(), std::negate<>(), nowhere),
               tally::error);
}

TEST(TransformReduceAutomatic, RunsInAnyPlaceOfTheHost) {
  const auto x = random_vector<double>(300 * chunk, 9);
  const auto same = [](double v) { return v; };
  EXPECT_EQ(tally::transform_reduce(x, 0.0, std::plus<>(), same), tally::sum(tally::serial(), x));
  EXPECT_EQ(tally::transform_reduce(x, x, 0.0, std::plus<>(), std::multiplies<>()),
            tally::dot(tally::serial(), x, x));
}

#if TALLY_HAS_CUDA
TEST(TransformReduceCuda, SaysThatFunctionsOfTheHostDontRunThere) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const auto where = tally::cuda();
  const data::buffer x(where, 80);
  const std::span v(reinterpret_cast<double*>(x.get()), 10);
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::transform_reduce: functions of the host can't run on cuda; compile the call with "
      "nvcc, with function objects and a result that can be copied as bytes",
      [&] { (void)tally::transform_reduce(where, v, 0.0, std::plus<>(), std::negate<>()); });
}
#endif

}  // namespace
