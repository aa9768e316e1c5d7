// Kernels of weighted norms.
#include "backends/cuda/dot/weighted.hpp"

#include "backends/cuda/device/any_share.cuh"

namespace tally::backends::cuda {
namespace {

/// Terms (x_i * w_i)^2.
template <class R_>
struct weighted_squares {
  using X = R_;
  using Y = R_;
  using R = R_;
  using sum = dot_sum<R>;
  static constexpr int lanes = lanes_per_thread(sizeof(R), sizeof(R));
  static constexpr int parts = 1;
  static constexpr bool rescales = false;

  static __device__ void add(sum& s, R x, R w) {
    const R number = x * w;
    s.value += number * number;
  }
  static __device__ complex_number<R> finish(const sum& s, const weighted_job& job) {
    return {finish_weighted(s.value, job.what, static_cast<std::size_t>(job.n)), R{}};
  }
};

template <class R>
struct weighted_part : contiguous_part<weighted_squares<R>> {
  using job = weighted_job;
};

/// A warp's part of vectors, and a mask, of one type for which is_contiguous holds.
template <class R>
struct masked_part {
  using Terms = weighted_squares<R>;
  using job = weighted_job;
  static constexpr int lanes = Terms::lanes;

  static __device__ typename Terms::sum add(const weighted_job& job, std::int64_t first,
                                            int thread) {
    constexpr int threads = static_cast<int>(order::lanes) / lanes;
    constexpr int in_flight = 4;  // rows, of 48 bytes per thread
    const std::int64_t start = (first + thread / threads) * chunk + thread % threads * lanes;
    const R* const x = static_cast<const R*>(job.x) + start;
    const R* const w = static_cast<const R*>(job.y) + start;
    const R* const mask = static_cast<const R*>(job.mask) + start;
    const int left = within_chunk(job.n - start);
    typename Terms::sum s[lanes];
#pragma unroll 2
    for (int row = 0; row < rows_of_chunk; row += in_flight) {
      elements<R, lanes> xs[in_flight], ws[in_flight], ms[in_flight];
#pragma unroll
      for (int r = 0; r < in_flight; ++r) {
        const int i = (row + r) * static_cast<int>(order::lanes);
        if (i + lanes > left) continue;
        xs[r].load(x + i);
        ws[r].load(w + i);
        ms[r].load(mask + i);
      }
#pragma unroll
      for (int r = 0; r < in_flight; ++r) {
#pragma unroll
        for (int v = 0; v < lanes; ++v) {
          if (ms[r][v] > 0) Terms::add(s[v], xs[r][v], ws[r][v]);
        }
      }
    }
    // The vectors may end within this thread's last load.
    const int i = left / static_cast<int>(order::lanes) * static_cast<int>(order::lanes);
    if (left - i < lanes) {
#pragma unroll
      for (int v = 0; v < lanes - 1; ++v) {
        if (i + v < left && mask[i + v] > 0) Terms::add(s[v], x[i + v], w[i + v]);
      }
    }
    return fold(s, thread);
  }
};

/// One chunk of vectors of any types, as any_part.
template <class R>
struct any_weighted_part {
  using Terms = weighted_squares<R>;
  using job = weighted_job;
  static constexpr int lanes = lanes_of_any;

  static __device__ typename Terms::sum add(const weighted_job& job, std::int64_t first,
                                            int thread) {
    constexpr int own = order::lanes / warp;
    constexpr int in_flight = 8;
    const std::int64_t start = first * chunk + thread;
    const int left = within_chunk(job.n - start);
    typename Terms::sum s[own];
#pragma unroll 1
    for (int done = 0; done < left; done += in_flight * warp) {
      R x[in_flight], w[in_flight];
      double masks[in_flight] = {};
      const auto load = [&](auto& to, const void* data, type element, std::ptrdiff_t increment) {
        load_any<warp>(to, data, element, (start + done) * increment, increment, left - done);
      };
      load(x, job.x, job.x_type, job.x_increment);
      load(w, job.y, job.y_type, job.y_increment);
      if (job.mask != nullptr) load(masks, job.mask, job.mask_type, job.mask_increment);
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        if (job.mask == nullptr || masks[i] > 0) Terms::add(s[i % own], x[i], w[i]);
      }
    }
    return fold_across_threads<warp>(fold_within_thread(s));
  }
};

template <class R>
__global__ void write_weighted_terms(const weighted_terms_job job) {
  wait_for_launch_before();
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < job.n) static_cast<R*>(job.to)[i] = job.vectors.square<R>(i);
}

template <class Share>
const void* kernel_for() {
  return reinterpret_cast<const void*>(&sum_kernel<Share>);
}

}  // namespace

const void* weighted_kernel(type accumulator, bool contiguous, bool masked) {
  return with_type<type_list<float, double>>(accumulator, [&]<class R>() {
    return !contiguous ? kernel_for<any_weighted_part<R>>()
           : masked    ? kernel_for<masked_part<R>>()
                       : kernel_for<weighted_part<R>>();
  });
}

const void* weighted_terms_kernel(type accumulator) {
  return with_type<type_list<float, double>>(accumulator, []<class R>() {
    return reinterpret_cast<const void*>(&write_weighted_terms<R>);
  });
}

}  // namespace tally::backends::cuda
