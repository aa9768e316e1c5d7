// dot on one thread, in plain loops: the reference that is read first.
#include "backends/serial/dot.hpp"

#include "backends/dot_sum.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/pairs.hpp"
#include "backends/tree.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <array>

namespace tally::backends::serial {
namespace {

/// The input converted to the accumulator's real type, to nearest even.
template <class A, class T>
A convert(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<A>(static_cast<float>(value));
  } else {
    return static_cast<A>(value);
  }
}

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

/// The sum of one chunk of n terms.
template <class A, class X, class Y>
dot_sum<A> sum_chunk(const X* x, std::ptrdiff_t x_increment, const Y* y, std::ptrdiff_t y_increment,
                     std::size_t n) {
  std::array<dot_sum<A>, order::lanes> lane{};
  for (std::size_t i = 0; i < n; ++i) {
    const auto index = static_cast<std::ptrdiff_t>(i);
    const auto t = term<A>(x[index * x_increment], y[index * y_increment]);
    lane[i % order::lanes] = lane[i % order::lanes] + t;
  }
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

template <class A, class X, class Y>
dot_sum<A> sum(const operand& x, const operand& y) {
  const auto* const px = static_cast<const X*>(x.data);
  const auto* const py = static_cast<const Y*>(y.data);
  tree<dot_sum<A>> chunks;
  for (std::size_t first = 0; first < x.size; first += order::chunk) {
    const auto offset = static_cast<std::ptrdiff_t>(first);
    chunks.add(sum_chunk<A>(px + offset * x.increment, x.increment, py + offset * y.increment,
                            y.increment, std::min(order::chunk, x.size - first)));
  }
  return chunks.total();
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
