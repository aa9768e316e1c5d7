// Terms of a dot product, in plain arithmetic.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/serial/order.hpp"

#include <cstdint>
#include <type_traits>

namespace tally::backends::serial {

template <class A>
A product(A a, A b) {
  if constexpr (std::is_integral_v<A>) {  // modulo 2^64
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

/// Returns term t_i. Compiled without contraction: the product is rounded before it is added.
template <class A, class X, class Y>
dot_sum<A> term(const X& x, const Y& y) {
  using R = real_t<A>;
  if constexpr (!is_complex_v<A>) {
    return {product(convert<A>(x), convert<A>(y))};
  } else if constexpr (!is_complex_v<X>) {
    const R re = convert<R>(x);
    return {re * convert<R>(y.real()), R{}, re * convert<R>(y.imag()), R{}};
  } else if constexpr (!is_complex_v<Y>) {
    const R re = convert<R>(y);
    return {convert<R>(x.real()) * re, R{}, R{}, convert<R>(x.imag()) * re};
  } else {
    const R xr = convert<R>(x.real()), xi = convert<R>(x.imag());
    const R yr = convert<R>(y.real()), yi = convert<R>(y.imag());
    return {xr * yr, xi * yi, xr * yi, xi * yr};
  }
}

}  // namespace tally::backends::serial
