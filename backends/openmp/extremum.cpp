// Extrema on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/extremum.hpp"

namespace tally::backends::openmp {

void backend::extremum(const executor& where, const extremum_arguments& a) const {
  const int threads = threads_that_pay(a.x, threads_of(where));
  const instruction_set set =
      threads == 1 ? simd::set_for_extremum(where, a.x.element, a.x.size) : where.instructions();
  auto* const search = simd::extremum_search_of(set, a.what, a.x.element);
  write_result(a,
               sum_of_parts<candidates>(a.x.size, threads, [&](std::size_t first, std::size_t n) {
                 return search(a.x.slice(first, n), first);
               }));
}

}  // namespace tally::backends::openmp
