// The element-wise functions in plain code, for loops, kernels and other libraries.
#pragma once

#include "bench/workload.hpp"

#include <cmath>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace bench::plain {

inline constexpr double alpha = 0.75;
inline constexpr double beta = -0.5;
inline constexpr double gamma = 0.25;  // below 1: repeated updates stay bounded

struct copy {
  static constexpr auto ours = tally::elementwise::copy;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return x;
  }
};
struct axpy {
  static constexpr auto ours = tally::elementwise::axpy;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(alpha) * x + y;
  }
};
struct waxpby {
  static constexpr auto ours = tally::elementwise::waxpby;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(alpha) * x + static_cast<T>(beta) * y;
  }
};
struct axpbypcz {
  static constexpr auto ours = tally::elementwise::axpbypcz;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y, T z) const {
    return static_cast<T>(alpha) * x + static_cast<T>(beta) * y + static_cast<T>(gamma) * z;
  }
};
struct add {
  static constexpr auto ours = tally::elementwise::add;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return x + y;
  }
};
struct mul {
  static constexpr auto ours = tally::elementwise::mul;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return x * y;
  }
};
struct relu {
  static constexpr auto ours = tally::elementwise::relu;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : T(0);
  }
};
struct sigmoid {
  static constexpr auto ours = tally::elementwise::sigmoid;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct exp {
  static constexpr auto ours = tally::elementwise::exp;
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return std::exp(x);
  }
};
/// The functions, in the order of `operation`, whose last, `scan`, is none.
using functions = std::tuple<copy, axpy, waxpby, axpbypcz, add, mul, relu, sigmoid, exp>;

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

template <class F>
void visit(operation what, F&& f) {
  int at = static_cast<int>(what) - static_cast<int>(operation::copy);
  [&]<class... G>(std::type_identity<std::tuple<G...>>) {
    ((at-- == 0 ? f(G{}) : void()), ...);
  }(std::type_identity<functions>{});
}

}  // namespace bench::plain
