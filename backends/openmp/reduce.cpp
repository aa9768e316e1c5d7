// Reductions on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/sums/reduce.hpp"

namespace tally::backends::openmp {

void backend::reduce(const executor& where, const reduce_arguments& a) const {
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    const int threads = threads_that_pay(a.x, threads_of(where));
    const instruction_set set =
        threads == 1 ? simd::set_for_reduce(where, a.x.element, a.x.size) : where.instructions();
    auto* const node = simd::reduce_node_of<A>(set, a.what, a.x.element);
    reduce_on_host<A>(a, [&](real_t<A> scale) {
      return sum_of_parts<reduce_sum<A>>(a.x.size, threads, [&](std::size_t first, std::size_t n) {
        return node(a.x.slice(first, n), scale);
      });
    });
  });
}

}  // namespace tally::backends::openmp
