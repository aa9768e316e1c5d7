// dot on OpenMP threads.
#include "backends/openmp/exact.hpp"
#include "backends/openmp/openmp.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/sums/dot.hpp"

namespace tally::backends::openmp {
namespace {

/// Returns the number of products of doubles that take as long. Elements summed without conversion,
/// except float16, take as long as reading them.
std::size_t products_of_doubles(const dot_arguments& a) {
  const type x = a.x.element;
  const bool is_read = x == a.y.element && (x == type::float32 || x == type::bfloat16 ||
                                            x == type::int8 || x == type::uint8);
  return is_read ? a.x.size * size_of(x) / sizeof(double) : a.x.size;
}

}  // namespace

void backend::dot(const executor& where, const dot_arguments& a) const {
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    // AVX-512 gains nothing in short parts (tuning/dot.md: set_for_dot on openmp).
    const int threads = threads_that_pay(products_of_doubles(a), threads_of(where));
    const std::size_t alone = threads == 1 ? a.x.size : 0;
    const instruction_set set = simd::set_for_dot(where, a.x.element, a.y.element, alone);
    auto* const node = simd::node_of<A>(set, a.x.element, a.y.element);
    const auto sum =
        sum_of_parts<dot_sum<A>>(a.x.size, threads, [&](std::size_t first, std::size_t n) {
          return node(a.x.slice(first, n), a.y.slice(first, n));
        });
    *static_cast<A*>(a.result.data) = finish(sum, a.conjugated);
  });
}

void backend::exact_dot(const executor& where, const dot_arguments& a) const {
  write_exact(
      where, exact_of(a), [](instruction_set set) { return simd::product_kernels_of(set).node; },
      [&] { simd::backend::exact_dot(where, a); });
}

}  // namespace tally::backends::openmp
