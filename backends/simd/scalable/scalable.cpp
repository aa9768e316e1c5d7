#include "backends/simd/scalable/scalable.hpp"
#include "backends/simd/level_one.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>

#if TALLY_HAS_SCALABLE
namespace tally::backends::simd::scalable {
namespace {

/// Sums n terms, by `sum(i, n)` of n <= chunk terms from term i on.
template <class W, class Sum>
W sum_chunks(std::size_t n, const Sum& sum) {
  if (n <= order::chunk) return sum(std::size_t{0}, n);
  tree<W> chunks;
  for (std::size_t i = 0; i < n; i += order::chunk) {
    chunks.add(sum(i, std::min(order::chunk, n - i)));
  }
  return chunks.total();
}

template <class W>
W sum_products(const W* x, const W* y, std::size_t n) {
  return sum_chunks<W>(
      n, [=](std::size_t i, std::size_t in_chunk) { return dot_of_chunk(x + i, y + i, in_chunk); });
}

template <reduction what, class W>
W sum_numbers(const W* x, std::size_t n) {
  return sum_chunks<W>(
      n, [=](std::size_t i, std::size_t in_chunk) { return sum_of_chunk<what>(x + i, in_chunk); });
}

template <class W>
W dot_of_numbers(const W* x, const W* y, std::size_t n) {
  const default_environment environment;
  return settled(canonical(sum_products(x, y, n)));
}

template <reduction what, class W>
W reduce_numbers(const W* x, std::size_t n) {
  const default_environment environment;
  const operand all{x, n, 1, type_of<W>};
  W result;
  reduce_on_host<W>({all, what, {&result, type_of<W>}},
                    [&](W scale) { return reduce<what>(all, scale); });
  return settled(result);
}

}  // namespace

template <class A>
dot_sum<A> dot(const operand& x, const operand& y) {
  if (x.increment != 1 || y.increment != 1) {
    return node_of<A>(rest, x.element, y.element)(x, y);
  }
  return {sum_products(static_cast<const A*>(x.data), static_cast<const A*>(y.data), x.size)};
}

template <reduction what, class A>
reduce_sum<A> reduce(const operand& x, A scale) {
  if (x.increment != 1 || scale != 1) {
    return simd::reduce_node_of<A>(rest, what, x.element)(x, scale);
  }
  return {sum_numbers<what>(static_cast<const A*>(x.data), x.size)};
}

void transform(const transform_arguments& a, type computation, memory_use use) {
  using types = type_list<float, double>;
  if (a.what != elementwise::axpby || use.past_caches || !is_in<types>(a.x.element) ||
      !is_uniform(a, computation)) {
    return simd::transform_node_of(rest)(a, computation, use);
  }
  with_type<types>(a.x.element, [&]<class W>() {
    const auto factor = factors<W>::template of<W>(a.alpha, a.beta);
    axpby(factor.alpha, static_cast<const W*>(a.x.data), factor.beta,
          static_cast<const W*>(a.y.data), static_cast<W*>(a.z.data), a.x.size);
  });
}

template dot_sum<float> dot<float>(const operand&, const operand&);
template dot_sum<double> dot<double>(const operand&, const operand&);
template reduce_sum<float> reduce<reduction::sum>(const operand&, float);
template reduce_sum<double> reduce<reduction::sum>(const operand&, double);
template reduce_sum<float> reduce<reduction::asum>(const operand&, float);
template reduce_sum<double> reduce<reduction::asum>(const operand&, double);
template reduce_sum<float> reduce<reduction::nrm2>(const operand&, float);
template reduce_sum<double> reduce<reduction::nrm2>(const operand&, double);

}  // namespace tally::backends::simd::scalable
#endif

namespace tally::backends::simd {

void add_scalable([[maybe_unused]] instruction_set set,
                  [[maybe_unused]] detail::level_one_kernels& to) {
#if TALLY_HAS_SCALABLE
  if (resolve(set) != scalable::here) return;
  const auto add = []<class W>(detail::level_one<W>& kernels) {
    using enum reduction;
    kernels.dot = &scalable::dot_of_numbers<W>;
    kernels.reduce[static_cast<std::size_t>(sum)] = &scalable::reduce_numbers<sum, W>;
    kernels.reduce[static_cast<std::size_t>(asum)] = &scalable::reduce_numbers<asum, W>;
    kernels.reduce[static_cast<std::size_t>(nrm2)] = &scalable::reduce_numbers<nrm2, W>;
    kernels.reduce[static_cast<std::size_t>(sum_of_squares)] = [](const W* x, std::size_t n) {
      return scalable::dot_of_numbers(x, x, n);
    };
    kernels.transform[static_cast<std::size_t>(elementwise::axpy)] =
        [](W alpha, W, W, const W* x, const W* y, const W*, W* z, std::size_t n) {
          const default_environment environment;
          scalable::axpby(alpha, x, W{1}, y, z, n);
        };
  };
  add.operator()<float>(to);
  add.operator()<double>(to);
#endif
}

}  // namespace tally::backends::simd
