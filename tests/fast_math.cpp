// Built with -ffast-math: startup code flushes subnormals to zero, and arithmetic may be reordered,
// except the library's and its headers'. Built again for processors with FMA, whose compilers
// contract.
#include "tests/golden.hpp"

#include <tally/tally.h>
#include <tally/tally.hpp>

#include <array>
#include <complex>
#include <cstdio>
#include <numeric>
#include <vector>

double own(const tally::executor& where, std::size_t n, unsigned seed, bool tiny) {
  const auto x = tiny ? golden::doubles(n, seed, -520, 8) : golden::doubles(n, seed);
  const auto y = tiny ? golden::doubles(n, seed + 1, -550, 8) : golden::doubles(n, seed + 1);
  return tally::transform_reduce(where, x, y, 0.0, std::plus<>(), std::multiplies<>());
}

/// A one-row matrix times x.
template <class T>
T row_times(const tally::executor& where, const std::vector<T>& values, const std::vector<T>& x) {
  std::vector<std::int32_t> columns(values.size());
  std::iota(columns.begin(), columns.end(), 0);
  const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(values.size())};
  T y[1];
  tally::spmv(where, tally::csr_view{1, values.size(), offsets, columns, values}, x, y);
  return y[0];
}

// --- Factors and bounds that are subnormal as floats ----------------------------------------------

/// 2^-130 as T, which arithmetic here would flush; hidden from the compiler.
template <class T>
T tiny() {
  if constexpr (tally::is_complex_v<T>) {
    using R = tally::real_t<T>;
    const std::array<R, 2> parts = {tiny<R>(), tiny<R>()};
    return std::bit_cast<T>(parts);
  } else if constexpr (sizeof(T) == 2) {
    volatile std::uint16_t bits = 0x0008;
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  } else {
    volatile std::uint32_t bits = 0x00080000;
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  }
}

template <class T>
auto bits_of(T value) {
  if constexpr (tally::is_complex_v<T>) {
    return std::bit_cast<std::array<std::uint32_t, 2>>(value);
  } else {
    return std::bit_cast<std::uint32_t>(value);
  }
}

int failures = 0;

void expect(bool is_right, const tally::executor& where, const char* what) {
  if (is_right) return;
  std::printf("%s: %s\n", where.description().c_str(), what);
  ++failures;
}

tally_executor executor_of(const tally::executor& where) {
  tally_executor c;
  if (tally_executor_named(&c, where.name().data()) != TALLY_SUCCESS) std::abort();
  return c;
}

/// Expects `want` from alpha * x + beta * y and from spmv, in C++ and C.
template <class S, class X>
void expect_products(const tally::executor& where, const char* what, X x, X want) {
  constexpr auto s = static_cast<tally_type>(tally::type_of<S>);
  constexpr auto e = static_cast<tally_type>(tally::type_of<X>);
  const S alpha = tiny<S>();
  const std::array from = {x};
  const std::array zero = {X{}};

  std::array y = from;
  tally::scal(where, alpha, y);
  expect(bits_of(y[0]) == bits_of(want), where, what);
  y = zero;
  tally::axpy(where, alpha, from, y);
  expect(bits_of(y[0]) == bits_of(want), where, what);
  y = from;
  tally::axpby(where, std::int32_t{0}, from, alpha, y);
  expect(bits_of(y[0]) == bits_of(want), where, what);

  const tally_executor c = executor_of(where);
  const std::int32_t none = 0;
  y = from;
  expect(tally_scal(&c, 1, s, &alpha, e, y.data(), 1, nullptr) == TALLY_SUCCESS, where, what);
  expect(bits_of(y[0]) == bits_of(want), where, what);
  y = from;
  expect(tally_axpby(&c, 1, TALLY_INT32, &none, e, from.data(), 1, s, &alpha, e, y.data(), 1,
                     nullptr) == TALLY_SUCCESS,
         where, what);
  expect(bits_of(y[0]) == bits_of(want), where, what);

  const std::array<std::int32_t, 2> offsets = {0, 1};
  const std::array<std::int32_t, 1> columns = {0};
  const std::array ones = {X{1}};
  y = zero;
  tally::spmv(where, alpha, tally::csr_view{1, 1, offsets, columns, ones}, from, alpha, y);
  expect(bits_of(y[0]) == bits_of(want), where, what);
  y = zero;
  const tally_csr a = {.size = sizeof a,
                       .rows = 1,
                       .columns = 1,
                       .nonzeros = 1,
                       .row_offsets = offsets.data(),
                       .column_indices = columns.data(),
                       .values = ones.data(),
                       .offset_type = TALLY_INT32,
                       .column_type = TALLY_INT32,
                       .value_type = e,
                       .reserved = 0};
  expect(tally_spmv(&c, nullptr, s, &alpha, &a, e, from.data(), 1, s, &alpha, e, y.data(), 1,
                    nullptr) == TALLY_SUCCESS,
         where, what);
  expect(bits_of(y[0]) == bits_of(want), where, what);
}

void expect_counts(const tally::executor& where) {
  const float upper = tiny<float>();
  const float lower = std::bit_cast<float>(std::bit_cast<std::uint32_t>(upper) | 0x80000000u);
  const std::array samples = {lower, upper, upper};
  std::array<std::int64_t, 2> counts;
  tally::histogram_even(where, samples, lower, upper, counts);
  expect(counts[0] == 1 && counts[1] == 2, where, "a histogram's bounds");
  const tally_executor c = executor_of(where);
  counts = {};
  expect(tally_histogram_even(&c, 3, TALLY_FLOAT32, samples.data(), 1, TALLY_FLOAT32, &lower,
                              &upper, 2, TALLY_INT64, counts.data(), nullptr) == TALLY_SUCCESS,
         where, "a histogram's bounds from C");
  expect(counts[0] == 1 && counts[1] == 2, where, "a histogram's bounds from C");
}

int main() {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) return 77;
#endif
  for (const auto& where : {tally::serial(), tally::simd(), tally::automatic()}) {
    for (const auto& row : golden::rows) {
      const double f64 = tally::dot(where, golden::doubles(row.n, 1), golden::doubles(row.n, 2));
      const double tiny =
          tally::dot(where, golden::doubles(row.n, 3, -520, 8), golden::doubles(row.n, 4, -550, 8));
      const float f32 = tally::dot(where, golden::floats(row.n, 5), golden::floats(row.n, 6));
      if (std::bit_cast<std::uint64_t>(f64) != row.f64 ||
          std::bit_cast<std::uint64_t>(tiny) != row.subnormal ||
          std::bit_cast<std::uint32_t>(f32) != row.f32 ||
          std::bit_cast<std::uint64_t>(own(where, row.n, 1, 0)) != row.f64 ||
          std::bit_cast<std::uint64_t>(own(where, row.n, 3, 1)) != row.subnormal) {
        std::printf("%s: n = %zu has other bits\n", where.description().c_str(), row.n);
        ++failures;
      }
    }
  }
  for (const auto& where : {tally::serial(), tally::simd(), tally::automatic()}) {
    for (const auto& row : golden::matrix_rows) {
      const double f64 = row_times(where, golden::doubles(row.n, 1), golden::doubles(row.n, 2));
      const double tiny =
          row_times(where, golden::doubles(row.n, 3, -520, 8), golden::doubles(row.n, 4, -550, 8));
      const float f32 = row_times(where, golden::floats(row.n, 5), golden::floats(row.n, 6));
      if (std::bit_cast<std::uint64_t>(f64) != row.f64 ||
          std::bit_cast<std::uint64_t>(tiny) != row.subnormal ||
          std::bit_cast<std::uint32_t>(f32) != row.f32) {
        std::printf("%s: a row of %zu has other bits\n", where.description().c_str(), row.n);
        ++failures;
      }
    }
  }
  constexpr float x0 = 0x1p20f, want = 0x1p-110f;
  for (const auto& where : tally::executors()) {
    if (!where.reaches_host_memory()) continue;  // vectors in host memory
    using complex = std::complex<float>;
    expect_products<float>(where, "a factor of float", x0, want);
    expect_products<tally::bfloat16>(where, "a factor of bfloat16", x0, want);
    expect_products<complex>(where, "a factor of complex<float>", complex(x0, 0),
                             complex(want, want));
    expect_products<float>(where, "a float's factor", complex(x0, x0), complex(want, want));
    expect_counts(where);
  }
  tally::exact_sum<double> sum;
  sum.add(tiny<float>());
  sum.add_product(tiny<float>(), 3.0);
  expect(
      std::bit_cast<std::uint64_t>(sum.round<double>()) == std::bit_cast<std::uint64_t>(0x1p-128),
      tally::serial(), "exact_sum of a float");
  // 0, unless the second product is contracted.
  auto x = golden::doubles(tally::order::chunk, 7);
  auto y = golden::doubles(tally::order::chunk, 8);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 128 >= 64) x[i] = -x[i - 64];
    y[i] = y[i % 64];
  }
  const auto plus = [](double a, double b) { return a + b; };
  const auto times = [](double a, double b) { return a * b; };
  if (tally::transform_reduce(tally::serial(), x, y, 0.0, plus, times) != 0) {
    std::printf("a product was not rounded before it was added\n");
    ++failures;
  }
  return failures != 0;
}
