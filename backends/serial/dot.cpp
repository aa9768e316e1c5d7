// dot in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"
#include "backends/serial/term.hpp"

namespace tally::backends::serial {
namespace {

template <class A, class X, class Y>
dot_sum<A> sum(const operand& x, const operand& y) {
  const auto* const px = static_cast<const detail::stored_t<X>*>(x.data);
  const auto* const py = static_cast<const detail::stored_t<Y>*>(y.data);
  return sum_in_order<dot_sum<A>>(x.size, [&](std::size_t i) {
    const auto index = static_cast<std::ptrdiff_t>(i);
    return term<A>(px[index * x.increment], py[index * y.increment]);
  });
}

template <class A>
constexpr auto sums = make_pair_table<dot_sum<A>(const operand&, const operand&), A>(
    []<class X, class Y>() { return &sum<A, X, Y>; });

}  // namespace

void backend::dot(const executor&, const dot_arguments& a) const {
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    auto* const sum_of_pair = sums<A>[a.x.element][a.y.element];
    *static_cast<A*>(a.result.data) = finish(sum_of_pair(a.x, a.y), a.conjugated);
  });
}

void backend::weighted(const executor&, const weighted_norm_arguments& a) const {
  const weighted_vectors vectors(a.x, a.w, a.mask);
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    const auto sum = sum_in_order<dot_sum<R>>(
        a.x.size, [&](std::size_t i) { return dot_sum<R>{vectors.square<R>(i)}; });
    *static_cast<R*>(a.result.data) = finish_weighted(sum.value, a.what, a.x.size);
  });
}

}  // namespace tally::backends::serial
