// The kernel of dot, sum, asum and nrm2; one launch a call.
//
// Promise: the bits of the order contract (<tally/numerics/order.hpp>). A warp owns 1 to 4 adjacent
// chunks at a time and a block an aligned power of two of those, so every sum made here is a node
// of the order's tree. Absent terms, chunks and blocks count as +0, which changes no sum: none is
// -0, as lanes start at +0. Products are rounded before they are added (-fmad=false).
//
// Members of `Terms`:
// - `X`, `Y`: element types; Y is void for one vector.
// - `lanes`: the order's lanes per thread for contiguous vectors.
// - `sum`: type of a sum of values, complex values, or norms.
// - `add`: adds a term.
// - `rescales`: whether elements are read again (norm_sum).
// - `add_scaled`: adds a scaled term to an otherwise complete sum.
// - `node`: a node of a longer vector's tree (backends/common/order/node_sum.hpp), unless `finish`
// makes
//   it.
// - `parts`: numbers in a result; `finish` makes them.
#pragma once

#include "backends/cuda/device/hand_over.cuh"
#include "backends/cuda/device/sum_job.hpp"

#include <type_traits>

namespace tally::backends::cuda {

template <class Terms>
inline constexpr bool has_two = !std::is_void_v<typename Terms::Y>;

template <class Terms>
concept has_node =
    requires(const typename Terms::sum& s, const sum_job& job) { Terms::node(s, job); };

template <class... X>
inline constexpr bool are_bytes = ((sizeof(X) == 1) && ...);

/// Returns an int64 sum of bytes, or its bits as a double.
__device__ inline complex_number<std::int64_t> sum_of_bytes(complex_number<std::int64_t> sum,
                                                            const sum_job& job) {
  if (job.as_double) sum.re = __double_as_longlong(static_cast<double>(sum.re));
  return sum;
}

/// `device_y` is unused for one vector.
template <class Terms>
using device_x = on_device_t<typename Terms::X>;
template <class Terms>
using device_y = on_device_t<std::conditional_t<has_two<Terms>, typename Terms::Y, std::uint8_t>>;
template <class Terms>
inline constexpr int element_bytes =
    static_cast<int>(sizeof(device_x<Terms>) + (has_two<Terms> ? sizeof(device_y<Terms>) : 0));

/// Terms whose y is common to a launch's sums, with `y_is_common`, load it through L1.
template <class Terms, class Elements>
__device__ void load_y(Elements& to, const device_y<Terms>* from) {
  if constexpr (requires { Terms::y_is_common; }) {
    to.load_through_l1(from);
  } else {
    to.load(from);
  }
}

/// First pass.
template <class Terms>
struct add_term {
  __device__ void operator()(typename Terms::sum& s, device_x<Terms> x,
                             [[maybe_unused]] device_y<Terms> y) const {
    if constexpr (has_two<Terms>) {
      Terms::add(s, x, y);
    } else {
      Terms::add(s, x);
    }
  }
};

/// Second pass.
template <class Terms>
struct add_scaled_term {
  __device__ void operator()(typename Terms::sum& s, device_x<Terms> x, device_y<Terms>) const {
    Terms::add_scaled(s, x);
  }
};

template <class A>
__device__ real_t<A> largest(const norm_sum<A>& s) {
  if constexpr (is_complex_v<A>) {
    return largest(s.re) > largest(s.im) ? largest(s.re) : largest(s.im);
  } else {
    return s.sum;
  }
}

/// Whether this thread must read its elements again; called by all threads of a warp together. Not
/// if a sum in the warp is so large that none of its elements is scaled up, while all of this
/// thread's are so small that its elements, scaled down, add 0. (That changes no result: norm_sum.)
template <class A, int lanes>
__device__ bool needs_scaled(const norm_sum<A> (&s)[lanes]) {
  using range = norm_range<real_t<A>>;
  real_t<A> most = 0;
#pragma unroll
  for (int v = 0; v < lanes; ++v) most = largest(s[v]) > most ? largest(s[v]) : most;
  return !__any_sync(whole_warp, most >= range::min_sum) || most >= range::unheard;
}

/// A warp's part of vectors for which is_contiguous holds.
template <class Terms_>
struct contiguous_part {
  using Terms = Terms_;
  using job = sum_job;
  static constexpr int lanes = Terms::lanes;

  static __device__ typename Terms::sum add(const sum_job& job, std::int64_t first, int thread) {
    using DX = device_x<Terms>;
    using DY = device_y<Terms>;
    using Sum = typename Terms::sum;
    constexpr int threads = static_cast<int>(order::lanes) / lanes;  // per chunk
    // Rows in flight per thread: a whole chunk's, up to 128 registers.
    constexpr int row_bytes = lanes * element_bytes<Terms>;
    constexpr int in_flight = row_bytes > 32 ? 4 : 16;
    static_assert(rows_of_chunk % in_flight == 0 || rows_of_chunk < in_flight);

    const std::int64_t start = (first + thread / threads) * chunk + thread % threads * lanes;
    const DX* const x = static_cast<const DX*>(job.x) + start;
    [[maybe_unused]] const DY* const y =
        static_cast<const DY*>(job.y) + (has_two<Terms> ? start : 0);
    const int left = within_chunk(job.n - start);

    Sum s[lanes];
    const auto add_rows = [&]<bool whole>(auto add) {
#pragma unroll
      for (int row = 0; row < rows_of_chunk; row += in_flight) {
        elements<DX, lanes> xs[in_flight];
        elements<DY, lanes> ys[in_flight];
        // All loads go out before the first addition, even at the end: absent rows add +0.
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
          const int i = (row + r) * static_cast<int>(order::lanes);
          if (whole || i + lanes <= left) {
            xs[r].load(x + i);
            if constexpr (has_two<Terms>) load_y<Terms>(ys[r], y + i);
          }
        }
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
#pragma unroll
          for (int v = 0; v < lanes; ++v) add(s[v], xs[r][v], ys[r][v]);
        }
      }
    };
    const auto add_all = [&](auto add) {
      if ((first + chunks_per_warp(lanes)) * chunk <= job.n) {
        add_rows.template operator()<true>(add);
      } else {
        add_rows.template operator()<false>(add);
        // The vectors end within this thread's last load.
        const int i = left / static_cast<int>(order::lanes) * static_cast<int>(order::lanes);
        if (left - i < lanes) {
#pragma unroll
          for (int v = 0; v < lanes - 1; ++v) {
            if (i + v < left) add(s[v], x[i + v], has_two<Terms> ? y[i + v] : DY());
          }
        }
      }
    };
    add_all(add_term<Terms>());
    if constexpr (Terms::rescales) {
      if (needs_scaled(s) && left > 0) add_all(add_scaled_term<Terms>());
    }
    return fold(s, thread);
  }
};

/// Sums a job's vectors in `blocks` blocks, of which this is `block`. Returns whether this thread
/// has the sum: the last block's first does. `Share` sums a warp's part: contiguous_part, any_part
/// or updated_part (fused/kernel.cuh). Its job is a sum_job, or begins with one.
template <class Share>
__device__ bool add_in_blocks(const typename Share::job& job, unsigned block, unsigned blocks,
                              typename Share::Terms::sum& total) {
  using Sum = typename Share::Terms::sum;
  __shared__ round_sums<Sum> sums;
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  wait_for_launch_before();
  if (w == 0) clear_round<Sum>(sums, warps, thread);

  const unsigned in_round = job.tiles < max_tiles ? job.tiles : max_tiles;
  Sum held;
  std::int64_t node = std::int64_t{block} * (job.tiles * warps) + w;
#pragma unroll 1
  for (unsigned tile = 0;; node += warps) {
    const Sum s = Share::add(job, node * chunks_per_warp(Share::lanes), thread);
    if (thread == 0) sums[(tile & (in_round - 1)) * warps + w] = s;
    if ((++tile & (in_round - 1)) != 0) continue;

    __syncthreads();
    if (w == 0) {
      total = add_round<Sum>(sums, in_round * warps, thread);
      if (job.tiles > max_tiles) total = add_leaf(held, tile / max_tiles - 1, total, thread);
    }
    if (tile == job.tiles) break;
    __syncthreads();
  }
  let_launch_after_start();

  if (blocks > 1) {
    if (threadIdx.x == 0) put(job.words + block * words_per<Sum>, total);
    if (block + 1 < blocks) return false;
    total = add_blocks<Sum>(job.words, blocks, thread, w);
  }
  return threadIdx.x == 0;
}

template <class Share>
__global__ void __launch_bounds__(max_warps* warp, 2) sum_kernel(const typename Share::job job) {
  using Terms = typename Share::Terms;
  typename Terms::sum total;
  if (add_in_blocks<Share>(job, blockIdx.x, gridDim.x, total)) {
    if constexpr (has_node<Terms>) {
      if (job.unfinished) {
        deliver(Terms::node(total, job), job.tag, job.result);
        return count_as_ended(job.ended);
      }
    }
    deliver<Terms::parts>(Terms::finish(total, job), job.tag, job.result);
    count_as_ended(job.ended);
  }
}

}  // namespace tally::backends::cuda
