// sum, asum and nrm2 run on OpenMP's threads, with the simd column's kernels.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/reduce.hpp"
#include "src/core/types/tables.hpp"

namespace tally::backends::openmp {

void reduce(const executor& where, const reduce_arguments& a) {
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    auto* const node = simd::reduce_node_of<A>(where.instructions(), a.what, a.x.element);
    reduce_on_host<A>(a, [&](real_t<A> scale) {
      return sum_of_shares<reduce_sum<A>>(
          a.x.size, threads_of(where),
          [&](std::size_t first, std::size_t n) { return node(a.x.slice(first, n), scale); });
    });
  });
}

}  // namespace tally::backends::openmp
