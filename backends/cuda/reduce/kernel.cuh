// Terms of sum, asum and nrm2.
#pragma once

#include "backends/cuda/device/any_share.cuh"
#include "backends/cuda/reduce/kernels.hpp"

#include <array>

namespace tally::backends::cuda {

template <class R>
__device__ R magnitude(R value) {
  if constexpr (std::is_integral_v<R>) {  // modulo 2^64
    return value < 0 ? static_cast<R>(0 - static_cast<std::uint64_t>(value)) : value;
  } else {
    return fabs(value);
  }
}

/// Terms x_i or |x_i|; for nrm2 |x_i|^2 where that can't leave the range.
template <reduction what, class A, class X_>
struct values {
  using X = X_;
  using Y = void;
  using R = real_t<A>;
  using sum = reduce_sum<A>;
  static constexpr int lanes = lanes_per_thread(sizeof(X));
  static constexpr int parts = what == reduction::sum && is_complex_v<A> ? 2 : 1;
  static constexpr bool rescales = false;

  static __device__ R term(R number) {
    if constexpr (what == reduction::sum) {
      return number;
    } else if constexpr (what == reduction::asum) {
      return magnitude(number);
    } else {
      return number * number;
    }
  }
  static __device__ void add(sum& s, on_device_t<X> x) {
    if constexpr (is_complex_v<A>) {
      s.re += term(convert<R>(x.re));
      s.im += term(convert<R>(x.im));
    } else {
      s = s + sum{term(convert<R>(x))};
    }
  }
  /// Squares that can't leave the range need no scaled sum.
  static __device__ auto node(const sum& s, const sum_job&)
    requires(std::is_floating_point_v<R> && (is_complex_v<A> || what == reduction::nrm2))
  {
    if constexpr (what != reduction::nrm2) {
      return s;
    } else if constexpr (is_complex_v<A>) {
      norm_sum<A> norm;
      norm.re.sum = s.re;
      norm.im.sum = s.im;
      return norm;
    } else {
      norm_sum<A> norm;
      norm.sum = s.value;
      return norm;
    }
  }
  static __device__ complex_number<R> finish(const sum& s, [[maybe_unused]] const sum_job& job) {
    if constexpr (std::is_same_v<A, std::int64_t> && are_bytes<X>) {
      return sum_of_bytes(finish_parts(s, what), job);
    } else {
      return finish_parts(s, what);
    }
  }
};

/// Terms |x_i|^2 where that can leave the range, with a scaled sum beside.
template <class A, class X_>
struct squares {
  using X = X_;
  using Y = void;
  using R = real_t<A>;
  using sum = norm_sum<A>;
  static constexpr int lanes = lanes_per_thread(sizeof(X));
  static constexpr int parts = 1;
  static constexpr bool rescales = true;

  static __device__ void add_square(norm_sum<R>& s, R number) { s.sum += number * number; }
  static __device__ void add_scaled_square(norm_sum<R>& s, R number) {
    const R scaled = number * s.scale();
    s.scaled += scaled * scaled;
  }
  static __device__ void add(sum& s, on_device_t<X> x) {
    if constexpr (is_complex_v<A>) {
      add_square(s.re, convert<R>(x.re));
      add_square(s.im, convert<R>(x.im));
    } else {
      add_square(s, convert<R>(x));
    }
  }
  static __device__ void add_scaled(sum& s, on_device_t<X> x) {
    if constexpr (is_complex_v<A>) {
      add_scaled_square(s.re, convert<R>(x.re));
      add_scaled_square(s.im, convert<R>(x.im));
    } else {
      add_scaled_square(s, convert<R>(x));
    }
  }
  static __device__ sum node(const sum& s, const sum_job&) { return s; }
  static __device__ complex_number<R> finish(const sum& s, const sum_job&) {
    return finish_parts(s, reduction::nrm2);
  }
};

/// Reduction that computes `what`: sum for asum of unsigned numbers.
template <reduction what, class X>
inline constexpr reduction reduced_by =
    what == reduction::asum && std::is_unsigned_v<X> ? reduction::sum : what;

/// Void for nrm2 of integers, which is no integer.
template <reduction what, class A, class X>
using reduce_terms =
    std::conditional_t<what != reduction::nrm2, values<reduced_by<what, X>, A, X>,
                       std::conditional_t<std::is_integral_v<A>, void,
                                          std::conditional_t<squares_leave_range<real_t<A>, X>,
                                                             squares<A, X>, values<what, A, X>>>>;

/// The same terms for elements converted to A.
template <reduction what, class A, class Terms>
using converted_terms = std::conditional_t<Terms::rescales, squares<A, A>, values<what, A, A>>;

template <reduction what, class A>
constexpr auto reduce_kernels = table_over([]<class X>() -> reduce_kernel {
  if constexpr (dot_accumulator<A, X, X>) {
    using terms = reduce_terms<what, A, X>;
    if constexpr (!std::is_void_v<terms>) {
      constexpr bool is_null = std::is_same_v<A, double> && are_bytes<X> && what != reduction::nrm2;
      sum_kernel_function* contiguous = nullptr;
      if constexpr (!is_null) contiguous = &sum_kernel<contiguous_part<terms>>;
      return {contiguous, &sum_kernel<any_part<converted_terms<what, A, terms>>>,
              words_per<typename terms::sum>};
    }
  }
  return {};
});

template <reduction what>
const reduce_kernel& reduce_kernel_of(type accumulator, type x) {
  return with_type<accumulator_types>(
      accumulator, [&]<class A>() -> const reduce_kernel& { return reduce_kernels<what, A>[x]; });
}

}  // namespace tally::backends::cuda
