// An update with a sum on OpenMP threads.
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

}  // namespace tally::backends::openmp
