// Built and linked with -ffast-math: its start flushes subnormals to zero, and its own arithmetic
// may be reordered; the library's may not, nor what it calls of ours. Built a second time for
// processors with FMA, whose compilers contract.
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

/// The dot product, by functions that are compiled here.
double own(const tally::executor& where, std::size_t n, unsigned seed, bool tiny) {
  const auto x = tiny ? golden::doubles(n, seed, -520, 8) : golden::doubles(n, seed);
  const auto y = tiny ? golden::doubles(n, seed + 1, -550, 8) : golden::doubles(n, seed + 1);
  return tally::transform_reduce(where, x, y, 0.0, std::plus<>(), std::multiplies<>());
}

/// The product of a matrix of one row, the values, and x.
template <class T>
T row_times(const tally::executor& where, const std::vector<T>& values, const std::vector<T>& x) {
  std::vector<std::int32_t> columns(values.size());
  std::iota(columns.begin(), columns.end(), 0);
  const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(values.size())};
  T y[1];
  tally::spmv(where, tally::csr_view{1, values.size(), offsets, columns, values}, x, y);
  return y[0];
}

int main() {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) return 77;
#endif
  int failures = 0;
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
  // Each lane adds a product and its negative: 0, unless the second is not rounded before.
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
