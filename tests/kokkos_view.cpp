// Kokkos::Views as operands: rank 1, contiguous or strided, for vectors; rank 2 for rows; rank 0
// for results.
#include <tally/tally.hpp>

#include <Kokkos_Core.hpp>

#include <complex>
#include <cstdio>
#include <span>
#include <vector>

int main() {
  std::vector<double> x(300), y(900);
  std::vector<Kokkos::complex<float>> z(300);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1.0 / static_cast<double>(i + 3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 1.0 / static_cast<double>(2 * i + 1);
    z[i] = Kokkos::complex<float>(static_cast<float>(x[i]), static_cast<float>(y[i]));
  }

  // Unmanaged: nothing here needs an initialised Kokkos.
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const double*, Kokkos::HostSpace, unmanaged> vx(x.data(), x.size());
  const Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace, unmanaged> vy(
      y.data(), Kokkos::LayoutStride(x.size(), 3));
  const Kokkos::View<const Kokkos::complex<float>*, Kokkos::HostSpace, unmanaged> vz(z.data(),
                                                                                     z.size());

  const auto where = tally::serial();
  const auto* const parts = reinterpret_cast<const std::complex<float>*>(z.data());
  const bool right =
      tally::dot(where, vx, vy) == tally::dot(where, x, tally::strided(y.data(), x.size(), 3)) &&
      tally::dot(where, vz, vx, tally::conjugate::x) ==
          tally::dot(where, std::span<const std::complex<float>>(parts, z.size()), x,
                     tally::conjugate::x);
  // A matrix of 3 rows in both layouts.
  const Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace, unmanaged> rows(
      y.data(), 3, 300);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace, unmanaged> columns(y.data(),
                                                                                         3, 300);
  bool are_rows = true;
  const auto by_rows = tally::multi_dot(where, rows, vx),
             by_columns = tally::multi_dot(columns, vx);
  const auto pairs = tally::batched_dot(where, rows, columns);
  for (std::size_t j = 0; j < 3; ++j) {
    const std::span<const double> row(y.data() + 300 * j, 300);
    const auto column = tally::strided(y.data() + j, 300, 3);
    are_rows = are_rows && by_rows[j] == tally::dot(where, row, x) &&
               by_columns[j] == tally::dot(where, column, x) &&
               pairs[j] == tally::dot(where, row, column);
  }
  // Results.
  double number = 0;
  std::complex<float> conjugated;
  std::vector<double> numbers(3);
  const Kokkos::View<double, Kokkos::HostSpace, unmanaged> result(&number);
  const Kokkos::View<Kokkos::complex<float>, Kokkos::HostSpace, unmanaged> complex_result(
      reinterpret_cast<Kokkos::complex<float>*>(&conjugated));
  const Kokkos::View<double*, Kokkos::HostSpace, unmanaged> results(numbers.data(), 3);
  tally::dot(where, vx, vy, result);
  tally::dot(where, vz, vz, complex_result, tally::conjugate::x);
  tally::multi_dot(where, rows, vx, results);
  const bool are_results = number == tally::dot(where, vx, vy) &&
                           conjugated == tally::dot(where, vz, vz, tally::conjugate::x) &&
                           numbers == by_rows;
  std::vector<unsigned> keys = {0, 2, 1, 2};
  std::vector<std::size_t> counts(3);
  tally::bincount(where, Kokkos::View<unsigned*, Kokkos::HostSpace, unmanaged>(keys.data(), 4),
                  Kokkos::View<std::size_t*, Kokkos::HostSpace, unmanaged>(counts.data(), 3));
  const bool are_counts = counts == std::vector<std::size_t>{1, 1, 2};
  if (!are_rows || !are_results || !are_counts) {
    std::puts("Views of rank 2 or 0, or of counts, give something else.");
    return 1;
  }
  std::puts(right ? "Views give the bits of what they view." : "A View gives other bits.");
  return right ? 0 : 1;
}
