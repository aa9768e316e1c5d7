// Histograms on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/counting/histogram.hpp"

#include <functional>

namespace tally::backends::openmp {

out_of_range_key backend::histogram(const executor& where, const histogram_arguments& a) const {
  out_of_range_key stray;
  const auto run = [](std::size_t count, const std::function<void(std::size_t)>& f) {
#pragma omp parallel for num_threads(static_cast<int>(count)) schedule(static)
    for (std::size_t t = 0; t < count; ++t) {
      const default_environment environment;
      f(t);
    }
  };
  simd::with_slot_search(where.instructions(), a, [&](const void* bins, simd::slot_search* search) {
    const auto threads = static_cast<std::size_t>(threads_of(where));
    stray = simd::count_on_threads(where, a, bins, search, threads, run);
  });
  return stray;
}

}  // namespace tally::backends::openmp
