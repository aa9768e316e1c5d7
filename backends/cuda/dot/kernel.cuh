// Terms of dot, x_i * y_i.
#pragma once

#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/any_share.cuh"
#include "backends/cuda/dot/kernels.hpp"

namespace tally::backends::cuda {

template <class R>
__device__ R product(R a, R b) {
  if constexpr (std::is_integral_v<R>) {  // modulo 2^64
    return static_cast<R>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class A, class X_, class Y_>
struct products {
  using X = X_;
  using Y = Y_;
  using R = real_t<A>;
  using sum = dot_sum<A>;
  static constexpr int lanes = lanes_per_thread(sizeof(X), sizeof(Y));
  static constexpr int parts = is_complex_v<A> ? 2 : 1;
  static constexpr bool rescales = false;

  /// A single real operand comes first in each product.
  static __device__ void add(sum& s, on_device_t<X> x, on_device_t<Y> y) {
    if constexpr (!is_complex_v<Y>) {
      s = s + sum{product(convert<R>(x), convert<R>(y))};
    } else if constexpr (!is_complex_v<X>) {
      const R re = convert<R>(x);
      s.rr += re * convert<R>(y.re);
      s.ri += re * convert<R>(y.im);
    } else {
      const R xr = convert<R>(x.re), xi = convert<R>(x.im);
      const R yr = convert<R>(y.re), yi = convert<R>(y.im);
      s.rr += xr * yr;
      s.ii += xi * yi;
      s.ri += xr * yi;
      s.ir += xi * yr;
    }
  }

  static __device__ sum node(const sum& s, const sum_job& job)
    requires is_complex_v<A>
  {
    return job.exchanged ? sum{s.rr, s.ii, s.ir, s.ri} : s;
  }
  static __device__ complex_number<R> finish(const sum& s, const sum_job& job) {
    if constexpr (std::is_same_v<A, std::int64_t> && are_bytes<X, Y>) {
      return sum_of_bytes(finish_parts(s, job.conjugated), job);
    } else {
      return finish_parts(s, job.conjugated);
    }
  }
};

/// Kernel of contiguous vectors; none for bytes in double.
template <class A>
struct dot_kernel_of {
  template <class X, class Y>
  constexpr sum_kernel_function* operator()() const {
    if constexpr (std::is_same_v<A, double> && are_bytes<X, Y>) {
      return nullptr;
    } else {
      return &sum_kernel<contiguous_part<products<A, X, Y>>>;
    }
  }
};

template <class A>
sum_kernel_function* dot_kernel(type x, type y) {
  static constexpr auto kernels = make_pair_table<sum_kernel_function, A>(dot_kernel_of<A>());
  return kernels[x][y];
}

template <class A>
sum_kernel_function* any_dot_kernel(bool x_complex) {
  return x_complex ? &sum_kernel<any_part<products<A, A, A>>>
                   : &sum_kernel<any_part<products<A, real_t<A>, A>>>;
}

}  // namespace tally::backends::cuda
