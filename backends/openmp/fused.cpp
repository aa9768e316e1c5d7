// Updates with sums on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/sums/fused.hpp"

namespace tally::backends::openmp {
void backend::fused(const executor& where, const fused_update& a) const {
  if (a.is_exact()) return simd::backend::fused(where, a);
  simd::fused_on_host(
      where.instructions(), a,
      [threads = threads_of(where)](std::size_t size, auto& sums, const auto& node) {
        return sum_of_parts(size, threads, sums, node);
      });
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  if (is_exact(sums)) {
    return simd::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
  }
  // One tile, too: `multi_dot` would allocate after the update.
  const int threads = threads_that_pay(update.x.size() * update.y.size, threads_of(where));
  simd::multi_axpy_dot_on_host(
      where, update, computation, sums, [threads](std::size_t tiles, const auto& run_tile) {
        const std::size_t needed = std::min(tiles, static_cast<std::size_t>(threads));
        if (needed == 1) {
          for (std::size_t i = 0; i < tiles; ++i) run_tile(i);
          return;
        }
#pragma omp parallel num_threads(static_cast<int>(needed))
        {
          const default_environment environment;
#pragma omp for schedule(static) nowait
          for (std::size_t i = 0; i < tiles; ++i) run_tile(i);
        }
      });
}

}  // namespace tally::backends::openmp
