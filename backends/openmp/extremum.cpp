// min, max, minmax and iamax run on OpenMP's threads, with the simd column's kernels.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/extremum.hpp"

namespace tally::backends::openmp {

void extremum(const executor& where, const extremum_arguments& a) {
  auto* const search = simd::extremum_search_of(where.instructions(), a.what, a.x.element);
  write_result(a, sum_of_shares<candidates>(a.x.size, threads_of(where),
                                            [&](std::size_t first, std::size_t n) {
                                              return search(a.x.slice(first, n), first);
                                            }));
}

}  // namespace tally::backends::openmp
