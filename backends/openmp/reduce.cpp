// Reductions on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/common/order/weighted_square.hpp"
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

void backend::weighted(const executor& where, const weighted_norm_arguments& a) const {
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    const int threads = threads_that_pay(a.x.size, threads_of(where));
    const instruction_set set = threads == 1
                                    ? simd::set_for_reduce(where, a.result.element, 2 * a.x.size)
                                    : where.instructions();
    auto* const node = simd::weighted_node_of<R>(set);
    const auto sum =
        sum_of_parts<dot_sum<R>>(a.x.size, threads, [&](std::size_t first, std::size_t n) {
          const auto part = [&](const operand& v) { return v.slice(first, n); };
          return dot_sum<R>{
              node(part(a.x), part(a.w), a.mask ? std::optional(part(*a.mask)) : std::nullopt)};
        });
    *static_cast<R*>(a.result.data) = finish_weighted(sum.value, a.what, a.x.size);
  });
}

}  // namespace tally::backends::openmp
