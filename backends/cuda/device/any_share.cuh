// A warp's part of a sum over vectors of any increment and type.
#pragma once

#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/sum_kernel.cuh"

namespace tally::backends::cuda {

/// Loads every 32nd of a vector's next `left` elements, all before the first conversion.
template <class To, int count>
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
      if (i * static_cast<int>(warp) < left) raw[i] = *from;
      from += warp * increment;
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
    // 64 registers per vector: two vectors and the sums must fit 128.
    constexpr int in_flight = element_bytes<Terms> > 16 ? 8 : 16;
    const std::int64_t start = first * chunk + thread;
    const int left = within_chunk(job.n - start);
    typename Terms::sum s[own];
    const auto add_all = [&](auto add) {
#pragma unroll 1
      for (int done = 0; done < left; done += in_flight * static_cast<int>(warp)) {
        device_x<Terms> x[in_flight];
        device_y<Terms> y[in_flight] = {};
        load_any(x, job.x, job.x_type, (start + done) * job.x_increment, job.x_increment,
                 left - done);
        if constexpr (has_two<Terms>) {
          load_any(y, job.y, job.y_type, (start + done) * job.y_increment, job.y_increment,
                   left - done);
        }
#pragma unroll
        for (int i = 0; i < in_flight; ++i) add(s[i % own], x[i], y[i]);
      }
    };
    add_all(add_term<Terms>());
    if constexpr (Terms::rescales) {
      if (needs_scaled(s) && left > 0) add_all(add_scaled_term<Terms>());
    }
    return fold_across_threads<warp>(fold_within_thread(s));
  }
};

}  // namespace tally::backends::cuda
