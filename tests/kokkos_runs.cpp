// The kokkos executor runs on Kokkos: a Kokkos tool counts kernels.
#include <tally/tally.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main() try {
  const auto where = tally::kokkos();
  void* const tool = dlopen(std::getenv("KOKKOS_PROFILE_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  const auto* const kernels = tool ? static_cast<int*>(dlsym(tool, "kokkos_kernels")) : nullptr;
  if (kernels == nullptr) {
    std::puts("Kokkos did not load the tool");
    return 1;
  }
  // A device can't reach these vectors; a result alone takes a kernel too.
  const bool on_host = where.reaches_host_memory();
  const std::vector<double> x(on_host ? 100000 : 0, 1.0);
  const int before = *kernels;
  tally::dot(tally::serial(), x, x);
  tally::dot(tally::simd(), x, x);
  const int others = *kernels - before;
  const double r = tally::dot(where, x, x);
  const int own = *kernels - before;
  std::printf("%d kernels for kokkos, %d for the others\n", own, others);
  return !(others == 0 && own > 0 && r == static_cast<double>(x.size()));
} catch (const tally::error& e) {
  std::puts(e.what());
  return e.code() == tally::errc::no_device ? 77 : 1;
}
