// Sums (sum_kernel.cuh) of elements made by the warps that add them.
#pragma once

#include "backends/cuda/device/sum_kernel.cuh"
#include "backends/cuda/fused/kernels.hpp"

#include <cstring>

namespace tally::backends::cuda {

/// A warp's part of vectors of one type for which is_contiguous holds. Writes z = alpha x + beta y
/// and sums Terms of z, or of z and v, or with `itself` of z and z.
template <class Terms_, bool itself>
struct updated_part {
  using Terms = Terms_;
  using job = fused_job;
  using T = device_x<Terms>;
  static constexpr int lanes = Terms::lanes;
  static constexpr bool has_v = has_two<Terms> && !itself;

  static __device__ typename Terms::sum add(const fused_job& job, std::int64_t first, int thread) {
    using Sum = typename Terms::sum;
    constexpr int threads = static_cast<int>(order::lanes) / lanes;
    // Rows in flight per thread: up to 64 registers.
    constexpr int row_bytes = lanes * static_cast<int>(sizeof(T)) * (has_v ? 3 : 2);
    constexpr int in_flight = row_bytes > 64 ? 2 : row_bytes > 32 ? 4 : 8;
    static_assert(rows_of_chunk % in_flight == 0);

    const std::int64_t start = (first + thread / threads) * chunk + thread % threads * lanes;
    const T* const x = static_cast<const T*>(job.x) + start;
    const T* const y = static_cast<const T*>(job.y) + start;
    T* const z = static_cast<T*>(job.z) + start;
    [[maybe_unused]] const T* const v = static_cast<const T*>(job.v) + (has_v ? start : 0);
    const int left = within_chunk(job.n - start);
    factors<T> f;
    memcpy(&f, job.factors, sizeof f);

    Sum s[lanes];
    const auto add_one = [&](auto add, Sum& sum, const T& made, [[maybe_unused]] const T& other) {
      if constexpr (has_v) {
        add(sum, made, other);
      } else if constexpr (has_two<Terms>) {
        add(sum, made, made);
      } else {
        add(sum, made, {});
      }
    };
    const auto update_rows = [&]<bool whole>() {
#pragma unroll 1
      for (int row = 0; row < rows_of_chunk; row += in_flight) {
        elements<T, lanes> xs[in_flight], ys[in_flight], vs[in_flight];
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
          const int i = (row + r) * static_cast<int>(order::lanes);
          if (whole || i + lanes <= left) {
            xs[r].load(x + i);
            ys[r].load(y + i);
            if constexpr (has_v) vs[r].load(v + i);
          }
        }
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
          const int i = (row + r) * static_cast<int>(order::lanes);
          if (!whole && i + lanes > left) continue;
          T made[lanes];
#pragma unroll
          for (int l = 0; l < lanes; ++l) {
            made[l] = function<elementwise::axpby>(f, xs[r][l], ys[r][l]);
            add_one(add_term<Terms>(), s[l], made[l], vs[r][l]);
          }
          elements<T, lanes>::store(made, z + i);
        }
      }
    };
    /// Calls f(l, i) for elements i, of lanes l, of this thread's last, partial load.
    const auto for_each_left = [&](const auto& f) {
      const int i = left / static_cast<int>(order::lanes) * static_cast<int>(order::lanes);
      if (left - i >= lanes) return;
#pragma unroll
      for (int l = 0; l < lanes - 1; ++l) {
        if (i + l < left) f(l, i + l);
      }
    };
    if ((first + chunks_per_warp(lanes)) * chunk <= job.n) {
      update_rows.template operator()<true>();
    } else {
      update_rows.template operator()<false>();
      for_each_left([&](int l, int i) {
        const T made = function<elementwise::axpby>(f, x[i], y[i]);
        add_one(add_term<Terms>(), s[l], made, has_v ? v[i] : T{});
        z[i] = made;
      });
    }
    if constexpr (Terms::rescales) {
      if (needs_scaled(s) && left > 0) {
        // The thread reads what it wrote itself.
#pragma unroll 1
        for (int i = 0; i + lanes <= left; i += static_cast<int>(order::lanes)) {
          elements<T, lanes> zs;
          zs.load(z + i);
#pragma unroll
          for (int l = 0; l < lanes; ++l) add_scaled_term<Terms>()(s[l], zs[l], {});
        }
        for_each_left([&](int l, int i) { add_scaled_term<Terms>()(s[l], z[i], {}); });
      }
    }
    return fold(s, thread);
  }
};

}  // namespace tally::backends::cuda
