// The element-wise functions in plain code, for loops, kernels and other libraries.
#pragma once

#include "bench/workload.hpp"

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace bench::plain {

inline constexpr double alpha = 0.75;
inline constexpr double beta = -0.5;
inline constexpr double gamma = 0.25;  // below 1: repeated updates stay bounded

/// Limits of clamp; compare_constant compares with the upper one. Both comparisons are `less`.
inline constexpr double low = beta, high = gamma;
inline constexpr int exponent = 3;

/// The function of numbers; of three, the last is the output's old value.
template <tally::elementwise what>
struct function {
  static constexpr auto ours = what;

  template <class T>
    requires(tally::detail::inputs(what) == 1)
  TALLY_HOST_DEVICE T operator()(T x) const {
    using e = tally::elementwise;
    if constexpr (what == e::copy) return x;
    if constexpr (what == e::relu) return x > T(0) ? x : T(0);
    if constexpr (what == e::sigmoid) return T(1) / (T(1) + std::exp(-x));
    if constexpr (what == e::exp) return std::exp(x);
    if constexpr (what == e::inv) return T(1) / x;
    if constexpr (what == e::abs) return std::abs(x);
    if constexpr (what == e::sqrt) return std::sqrt(x);
    if constexpr (what == e::log) return std::log(x);
    if constexpr (what == e::tanh) return std::tanh(x);
    if constexpr (what == e::sign) return T(x > T(0)) - T(x < T(0));
    if constexpr (what == e::scale) return T(alpha) * x;
    if constexpr (what == e::add_constant) return x + T(alpha);
    if constexpr (what == e::clamp) return x < T(low) ? T(low) : x > T(high) ? T(high) : x;
    if constexpr (what == e::pow) return x * (x * x);
    if constexpr (what == e::compare_constant) return T(x < T(high));
  }
  template <class T>
    requires(tally::detail::inputs(what) == 2 && !tally::detail::reads_output(what))
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    using e = tally::elementwise;
    if constexpr (what == e::axpy) return T(alpha) * x + y;
    if constexpr (what == e::waxpby) return T(alpha) * x + T(beta) * y;
    if constexpr (what == e::add) return x + y;
    if constexpr (what == e::mul) return x * y;
    if constexpr (what == e::div) return x / y;
    if constexpr (what == e::minimum) return x < y ? x : y;
    if constexpr (what == e::maximum) return x < y ? y : x;
    if constexpr (what == e::compare) return T(x < y);
  }
  template <class T>
    requires(tally::detail::reads_three(what))
  TALLY_HOST_DEVICE T operator()(T x, T y, T z) const {
    using e = tally::elementwise;
    if constexpr (what == e::axpbypcz) return T(alpha) * x + T(beta) * y + T(gamma) * z;
    if constexpr (what == e::where) return x != T(0) ? y : z;
    if constexpr (what == e::jacobi_step) return x + T(alpha) * y / z;
  }
};

/// g of element i.
template <class G, class T>
TALLY_HOST_DEVICE T at(const G& g, const T* x, const T* y, const T* z, std::size_t i) {
  if constexpr (std::is_invocable_v<G, T, T, T>) {
    return g(x[i], y[i], z[i]);
  } else if constexpr (std::is_invocable_v<G, T, T>) {
    return g(x[i], y[i]);
  } else {
    return g(x[i]);
  }
}

/// Calls f with the plain function of `what`, unless it has none.
template <class F>
void visit(operation what, F&& f) {
  if (!has_function(what)) return;
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((functions[i] == function_of(what) ? f(function<functions[i]>{}) : void()), ...);
  }(std::make_index_sequence<std::size(functions)>{});
}

}  // namespace bench::plain
