// Rank-1 Kokkos::Views, contiguous and strided, are operands as they are.
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
      tally::dotc(where, vz, vx) ==
          tally::dotc(where, std::span<const std::complex<float>>(parts, z.size()), x);
  std::puts(right ? "Views give the bits of what they view." : "A View gives other bits.");
  return right ? 0 : 1;
}
