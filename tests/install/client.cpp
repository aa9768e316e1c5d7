// A program against an installed Tally: golden bits on every executor.
#include "golden.hpp"

#include <tally/tally.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// The program's own Highway, whose symbols the library must not call.
namespace hwy {
std::int64_t SupportedTargets();
[[gnu::visibility("default"), gnu::used]] std::int64_t SupportedTargets() {
  std::puts("Tally has called another's hwy::SupportedTargets");
  std::abort();
}
}  // namespace hwy

namespace {

int failures_on(const tally::executor& where) {
  int failures = 0;
  for (const auto& row : golden::rows) {
    const double f64 = tally::dot(where, golden::doubles(row.n, 1), golden::doubles(row.n, 2));
    const double tiny =
        tally::dot(where, golden::doubles(row.n, 3, -520, 8), golden::doubles(row.n, 4, -550, 8));
    const float f32 = tally::dot(where, golden::floats(row.n, 5), golden::floats(row.n, 6));
    if (std::bit_cast<std::uint64_t>(f64) != row.f64 ||
        std::bit_cast<std::uint64_t>(tiny) != row.subnormal ||
        std::bit_cast<std::uint32_t>(f32) != row.f32) {
      std::printf("  n = %zu has other bits\n", row.n);
      ++failures;
    }
  }
  return failures;
}

}  // namespace

int main() {
  int failures = 0;
  for (const auto& where : tally::executors()) {
    std::printf("%s\n", where.description().c_str());
    try {
      failures += failures_on(where);
    } catch (const tally::error& e) {  // data in host memory
      if (where.reaches_host_memory() || e.code() != tally::errc::wrong_memory) throw;
    }
  }
  return failures != 0;
}
