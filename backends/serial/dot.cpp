// dot on one thread, in plain loops: the reference that is read first.
#include "backends/serial/dot.hpp"

#include "backends/dot_sum.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/pairs.hpp"
#include "backends/serial/order.hpp"

namespace tally::backends::serial {
namespace {

template <class A>
A product(A a, A b) {
  if constexpr (std::is_integral_v<A>) {  // modulo 2^64
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

/// Term t_i of the sum. Compiled without contraction: the product is rounded before it is added.
template <class A, class X, class Y>
dot_sum<A> term(const X& x, const Y& y) {
  using R = real_t<A>;
  if constexpr (!is_complex_v<Y>) {
    return {product(convert<A>(x), convert<A>(y))};
  } else if constexpr (!is_complex_v<X>) {  // the real operand comes first in a pair
    const R re = convert<R>(x);
    return {re * convert<R>(y.real()), R{}, re * convert<R>(y.imag()), R{}};
  } else {
    const R xr = convert<R>(x.real()), xi = convert<R>(x.imag());
    const R yr = convert<R>(y.real()), yi = convert<R>(y.imag());
    return {xr * yr, xi * yi, xr * yi, xi * yr};
  }
}

template <class A, class X, class Y>
dot_sum<A> sum(const operand& x, const operand& y) {
  const auto* const px = static_cast<const X*>(x.data);
  const auto* const py = static_cast<const Y*>(y.data);
  return sum_in_order<dot_sum<A>>(x.size, [&](std::size_t i) {
    const auto index = static_cast<std::ptrdiff_t>(i);
    return term<A>(px[index * x.increment], py[index * y.increment]);
  });
}

template <class A>
constexpr auto sums = make_pair_table<dot_sum<A>(const operand&, const operand&), A>(
    []<class X, class Y>() { return &sum<A, X, Y>; });

}  // namespace

void dot(const executor&, const dot_arguments& a) {
  const default_environment environment;
  with_accumulator(a.result.element, [&]<class A>() {
    auto* const sum_of_pair = at(sums<A>, a.x.element, a.y.element);
    *static_cast<A*>(a.result.data) = finish(sum_of_pair(a.x, a.y), a.conjugated);
  });
}

}  // namespace tally::backends::serial
