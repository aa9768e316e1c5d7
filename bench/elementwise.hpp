// The element-wise functions in plain code, for loops, kernels and other libraries.
#pragma once

#include "bench/workload.hpp"

#include <cmath>
#include <cstddef>
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
  switch (what) {
    case operation::axpy:
      return f(axpy{});
    case operation::waxpby:
      return f(waxpby{});
    case operation::axpbypcz:
      return f(axpbypcz{});
    case operation::add:
      return f(add{});
    case operation::mul:
      return f(mul{});
    case operation::relu:
      return f(relu{});
    case operation::sigmoid:
      return f(sigmoid{});
    case operation::exp:
      return f(exp{});
    default:
      return f(copy{});
  }
}

}  // namespace bench::plain
