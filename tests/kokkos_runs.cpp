// The kokkos executor really runs on Kokkos: a tool, loaded by Kokkos itself, counts its kernels.
#include <tally/tally.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main() {
  const auto where = tally::kokkos();
  void* const tool = dlopen(std::getenv("KOKKOS_PROFILE_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  const auto* const kernels = tool ? static_cast<int*>(dlsym(tool, "kokkos_kernels")) : nullptr;
  if (kernels == nullptr) {
    std::puts("Kokkos did not load the tool");
    return 1;
  }
  const std::vector<double> x(100000, 1.0);
  const int before = *kernels;
  tally::dot(tally::serial(), x, x);
  tally::dot(tally::simd(), x, x);
  const int others = *kernels - before;
  const double r = tally::dot(where, x, x);
  const int own = *kernels - before;
  std::printf("%d kernels for kokkos, %d for the others\n", own, others);
  return !(others == 0 && own > 0 && r == 100000.0);
}
