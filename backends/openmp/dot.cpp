// dot runs on OpenMP's threads, with the simd column's kernel.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/dot.hpp"
#include "src/core/types/tables.hpp"

namespace tally::backends::openmp {

void dot(const executor& where, const dot_arguments& a) {
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    auto* const node = simd::node_of<A>(where.instructions(), a.x.element, a.y.element);
    const auto sum =
        sum_of_shares<dot_sum<A>>(a.x.size, threads_that_pay(a.x.size, threads_of(where)),
                                  [&](std::size_t first, std::size_t n) {
                                    return node(a.x.slice(first, n), a.y.slice(first, n));
                                  });
    *static_cast<A*>(a.result.data) = finish(sum, a.conjugated);
  });
}

}  // namespace tally::backends::openmp
