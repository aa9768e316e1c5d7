// What a factor is, zero or real, its value says before it is converted to the type that elements
// are computed in.
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
  /// The elements of a buffer that `call` has been given, with these in it.
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

}  // namespace
