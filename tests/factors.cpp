// A factor is zero or real by its value before conversion to the computation's type.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace {

using complex = std::complex<double>;
using complex_float = std::complex<float>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double tiny = 1e-60;  // 0 as a float

class Factors : public data::OnEveryExecutor {
 protected:
  /// The elements of a buffer after `call`.
  template <class T, class Call>
  std::vector<T> after(std::vector<T> values, const Call& call) {
    data::buffer memory(where(), values.size() * sizeof(T));
    memory.write(values.data(), memory.size());
    call(std::span(reinterpret_cast<T*>(memory.get()), values.size()));
    memory.read(values.data(), memory.size());
    return values;
  }
};

bool is_inf_nan(complex_float z) { return std::isinf(z.real()) && std::isnan(z.imag()); }
bool is_inf_2(complex_float z) { return z == complex_float(infinity, 2); }

TEST_ON_EVERY_EXECUTOR(Factors, AreRealBeforeTheyAreConverted) {
  // 2 (inf + i) = inf + 2i, (2 + 0i)(inf + i) = inf + NaN i.
  const std::vector<complex_float> x(70, complex_float(infinity, 1));
  for (const std::ptrdiff_t stride : {1, 2}) {
    const auto scaled = [&](complex alpha) {
      return after(x, [&](std::span<complex_float> z) {
        tally::scal(where(), alpha, tally::strided(z.data(), z.size() / stride, stride));
      })[0];
    };
    EXPECT_TRUE(is_inf_2(scaled(2)));
    EXPECT_TRUE(is_inf_nan(scaled(complex(2, tiny))));
    EXPECT_TRUE(is_inf_nan(scaled(complex(2, -tiny))));
    const auto updated = [&](complex alpha, complex beta) {
      return after(x, [&](std::span<complex_float> z) {
        const auto y = tally::strided(z.data(), z.size() / stride, stride);
        tally::axpby(where(), alpha, y, beta, y);
      })[0];
    };
    EXPECT_TRUE(is_inf_2(updated(1, 1)));
    EXPECT_TRUE(is_inf_nan(updated(complex(1, tiny), 1)));
    EXPECT_TRUE(is_inf_nan(updated(1, complex(1, tiny))));
  }
}

TEST_ON_EVERY_EXECUTOR(Factors, OfSpmvAreZeroAndRealBeforeTheyAreConverted) {
  if (where().name() == "workspace") GTEST_SKIP() << "it stages no matrices";
  const std::vector<std::int32_t> offsets = {0, 1}, columns = {0};
  const auto product = [&]<class V>(std::vector<V> y, V value, auto alpha, auto beta) {
    V got{};
    after(offsets, [&](auto row_offsets) {
      after(columns, [&](auto column_indices) {
        after(std::vector<V>{value}, [&](auto values) {
          after(std::vector<float>{1}, [&](auto x) {
            got = after(y, [&](auto z) {
              tally::spmv(where(), alpha,
                          tally::csr_view{1, 1, row_offsets, column_indices, values}, x, beta, z);
            })[0];
          });
        });
      });
    });
    return got;
  };
  const float nan = std::nanf("");
  EXPECT_EQ(product(std::vector<float>{nan}, 3.0f, 1.0, 0.0), 3);
  EXPECT_EQ(product(std::vector<float>{nan}, 3.0f, 1.0, -0.0), 3);
  EXPECT_TRUE(std::isnan(product(std::vector<float>{nan}, 3.0f, 1.0, tiny)));
  EXPECT_EQ(product(std::vector<float>{5}, 3.0f, 1.0, tiny), 3);

  const complex_float large(infinity, 1);
  const std::vector<complex_float> zero(1), one = {large};
  EXPECT_TRUE(is_inf_2(product(zero, large, complex(2), complex(1))));
  EXPECT_TRUE(is_inf_nan(product(zero, large, complex(2, tiny), complex(1))));
  EXPECT_TRUE(is_inf_2(product(one, complex_float(0), complex(1), complex(2))));
  EXPECT_TRUE(is_inf_nan(product(one, complex_float(0), complex(1), complex(2, tiny))));
}

/// Equal for all NaNs.
template <class T>
auto bits_of(T re, T im) {
  return data::bits(tally::detail::canonical(std::complex<T>(re, im)));
}

// Element-wise functions compute in their inputs' type: real results get the imaginary part +0 for
// any factors.
TEST_ON_EVERY_EXECUTOR(Factors, LeaveARealResultReal) {
  const std::vector<double> x = {1, -1, 0, -0.0, infinity};
  const auto expect_real = [&](const char* what, const auto& call) {
    const auto got = after(std::vector<complex>(x.size(), {7, 7}), [&](auto z) {
      after(x, [&](auto there) { call(std::span<const double>(there), z); });
    });
    for (const complex& z : got) {
      EXPECT_EQ(data::bits(z.imag()), data::bits(0.0)) << what << " has " << z;
    }
  };
  expect_real("copy", [&](auto v, auto z) { tally::copy(where(), v, z); });
  expect_real("sub", [&](auto v, auto z) { tally::sub(where(), v, v, z); });
  expect_real("mul", [&](auto v, auto z) { tally::mul(where(), v, v, z); });
  expect_real("exp", [&](auto v, auto z) { tally::exp(where(), v, z); });
  for (const double factor : {-2.0, 0.0, -0.0, double{infinity}, -double{infinity}}) {
    expect_real("waxpby", [&](auto v, auto z) { tally::waxpby(where(), factor, v, factor, v, z); });
    expect_real("fill", [&](auto, auto z) { tally::fill(where(), factor, z); });
  }
}

// spmv computes in y's type if wider: a real sum in a complex y has the imaginary part +0 before
// alpha multiplies it, so -0 for negative alpha, NaN for non-finite alpha.
TEST_ON_EVERY_EXECUTOR(Factors, OfSpmvMultiplyTheZeroBesideARealSum) {
  if (where().name() == "workspace") GTEST_SKIP() << "it stages no matrices";
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3}, columns = {0, 1, 0};
  const std::vector<double> values = {1, 2, -5}, x = {1, 1};
  const double sums[] = {3, 0, -5};
  const auto expect = [&]<class Y>(double alpha, double beta, std::complex<Y> y, bool is_exact) {
    const tally::grade grade = is_exact ? tally::exact : tally::grade{};
    const auto got = after(std::vector<std::complex<Y>>(3, y), [&](auto z) {
      after(offsets, [&](auto row_offsets) {
        after(columns, [&](auto column_indices) {
          after(values, [&](auto terms) {
            after(x, [&](auto v) {
              tally::spmv(where(), alpha, tally::csr_view{3, 2, row_offsets, column_indices, terms},
                          v, beta, z, grade);
            });
          });
        });
      });
    });
    for (std::size_t i = 0; i < 3; ++i) {
      volatile double re = alpha * sums[i], im = alpha * 0.0;
      if (beta != 0) {
        re = re + beta * double{y.real()};
        im = im + beta * double{y.imag()};
      }
      EXPECT_EQ(data::bits(got[i]), bits_of(static_cast<Y>(re), static_cast<Y>(im)))
          << got[i] << " of alpha " << alpha << ", beta " << beta << ", row " << i;
    }
    return got[0];
  };
  const double infinite = infinity;
  for (const bool is_exact : {false, true}) {
    for (const double alpha : {1.0, 2.0, -1.0, -2.0, 0.0, -0.0, infinite, -infinite}) {
      for (const double beta : {0.0, 1.0, -1.0}) {
        for (const double im : {0.0, -0.0, 4.0}) {
          expect(alpha, beta, std::complex<double>(7, im), is_exact);
          expect(alpha, beta, std::complex<float>(7, static_cast<float>(im)), is_exact);
        }
      }
    }
    const complex negative = expect(-2.0, 0.0, complex(7, 7), is_exact);
    EXPECT_EQ(data::bits(negative), data::bits(complex(-6, -0.0)));
    EXPECT_TRUE(std::isnan(expect(infinite, 0.0, complex(7, 7), is_exact).imag()));
    EXPECT_EQ(data::bits(expect(2.0, 0.0, complex(7, 7), is_exact)), data::bits(complex(6, 0.0)));
  }
}

}  // namespace
