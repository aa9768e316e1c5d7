#include "src/detail/level_one.hpp"

#include "backends/backends.hpp"
#include "backends/simd/level_one.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"

#include <algorithm>
#include <array>

namespace tally {
namespace {

/// Whether a backend of this build is a device's.
bool has_devices() noexcept {
  return std::ranges::any_of(backends::instances,
                             [](const backends::backend* each) { return !each->is_on_host; });
}

bool are_here(const executor& where, const void* x, const void* y) {
  if (!memory_differs()) return true;
  const void* const both[] = {x, y};
  if (where.backend() != nullptr) return known_on_host(both);
  return (is_surely_on_host(x) && is_surely_on_host(y)) || are_on_host(both);
}

constexpr std::size_t index_of(instruction_set set) {
  return static_cast<std::size_t>(static_cast<int>(set) + 1);
}

}  // namespace

const detail::level_one_kernels* level_one_of(instruction_set set) {
  static const auto by_set = [] {
    std::array<detail::level_one_kernels, index_of(instruction_set::rvv) + 1> all{};
    const auto fill = [&all](instruction_set each) {
      detail::level_one_kernels& to = all[index_of(each)];
      for (auto* const add :
           {backends::simd::add_dot, backends::simd::add_reductions, backends::simd::add_iamax,
            backends::simd::add_updates, backends::simd::add_scans,
            backends::simd::add_short_functions, backends::simd::add_scalable}) {
        if (add != nullptr) add(each, to);
      }
      to.max_bytes = openmp_from_bytes / 2 - 1;
      to.are_here = has_devices() ? are_here : nullptr;
    };
    fill(instruction_set::best);
    for (const instruction_set each : backends::simd::instruction_sets()) fill(each);
    return all;
  }();
  return &by_set[index_of(set)];
}

#if TALLY_HAS_OPENMP
const detail::level_one_kernels* level_one_of_threads() {
  static detail::level_one_kernels kernels = [] {
    detail::level_one_kernels made = *level_one_of(instruction_set::best);
    made.max_bytes = backends::openmp::bytes_on_one_thread;
    // Then all calls go the general way, which throws.
    backends::openmp::when_lost([] { kernels.max_bytes = 0; });
    return made;
  }();
  return &kernels;
}
#endif

}  // namespace tally
