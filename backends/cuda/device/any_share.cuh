// A warp's part of a sum over vectors of any increment and type.
#pragma once

#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/sum_kernel.cuh"

namespace tally::backends::cuda {

/// Loads each `step`-th of a vector's next `left` elements, all before the first conversion.
template <int step, class To, int count>
__device__ void load_any(To (&to)[count], const void* data, type element, std::ptrdiff_t at,
                         std::ptrdiff_t increment, int left) {
  constexpr bool is_real = std::is_arithmetic_v<To>;
  using loaded = std::conditional_t<std::is_integral_v<To>, integer_types,
                                    std::conditional_t<is_real, real_types, complex_types>>;
  with_type<loaded>(element, [&]<class T>() {
    using D = on_device_t<T>;
    const D* from = static_cast<const D*>(data) + at;
    D raw[count] = {};
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (i * step < left) raw[i] = *from;
      from += step * increment;
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if constexpr (is_real) {
        to[i] = convert<To>(raw[i]);
      } else {
        using R = decltype(To::re);
        to[i] = {convert<R>(raw[i].re), convert<R>(raw[i].im)};
      }
    }
  });
}

/// Adds each `step`-th of the next `left` terms, converted to the types of Terms, to `own` lanes in
/// turn. x_at and y_at: elements from x and y to the first.
template <class Terms, int step, int own, class Job, class Add>
__device__ void add_any(const Job& job, const void* x_data, std::ptrdiff_t x_at, const void* y_data,
                        std::ptrdiff_t y_at, int left, Add add, typename Terms::sum (&s)[own]) {
  // 64 registers per vector: two vectors and the sums must fit 128.
  constexpr int in_flight = element_bytes<Terms> > 16 ? 8 : 16;
#pragma unroll 1
  for (int done = 0; done < left; done += in_flight * step) {
    device_x<Terms> x[in_flight];
    device_y<Terms> y[in_flight] = {};
    load_any<step>(x, x_data, job.x_type, x_at + done * job.x_increment, job.x_increment,
                   left - done);
    if constexpr (has_two<Terms>) {
      load_any<step>(y, y_data, job.y_type, y_at + done * job.y_increment, job.y_increment,
                     left - done);
    }
#pragma unroll
    for (int i = 0; i < in_flight; ++i) add(s[i % own], x[i], y[i]);
  }
}

/// One chunk, converted to the types of Terms. One kernel serves all pairs of types (tuning/dot.md:
/// any_part).
template <class Terms_>
struct any_part {
  using Terms = Terms_;
  using job = sum_job;
  static constexpr int lanes = lanes_of_any;

  /// Thread t has lanes t and t + 32: adjacent threads read adjacent elements.
  static __device__ typename Terms::sum add(const sum_job& job, std::int64_t first, int thread) {
    constexpr int own = order::lanes / warp;
    const std::int64_t start = first * chunk + thread;
    const int left = within_chunk(job.n - start);
    typename Terms::sum s[own];
    const auto add_all = [&](auto add) {
      add_any<Terms, warp>(job, job.x, start * job.x_increment, job.y, start * job.y_increment,
                           left, add, s);
    };
    add_all(add_term<Terms>());
    if constexpr (Terms::rescales) {
      if (needs_scaled(s) && left > 0) add_all(add_scaled_term<Terms>());
    }
    return fold_across_threads<warp>(fold_within_thread(s));
  }
};

}  // namespace tally::backends::cuda
