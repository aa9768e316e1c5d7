// The element-wise functions as one would write them: what a loop, a kernel or another library's
// transform is given.
#pragma once

#include "bench/workload.hpp"

#include <cmath>

namespace bench::plain {

inline constexpr double alpha = 0.75;

struct copy {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return x;
  }
};
struct axpy {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(alpha) * x + y;
  }
};
struct add {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return x + y;
  }
};
struct mul {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x, T y) const {
    return x * y;
  }
};
struct relu {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : T(0);
  }
};
struct sigmoid {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct exp {
  template <class T>
  TALLY_HOST_DEVICE T operator()(T x) const {
    return std::exp(x);
  }
};

/// Calls f with the function of one or two elements that `what` is.
template <class F>
void visit(operation what, F&& f) {
  switch (what) {
    case operation::axpy:
      return f(axpy{});
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
