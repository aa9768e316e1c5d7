// dot on a GPU: one kernel for each pair of element types, one launch for each call.
//
// Promise: the bits of the order contract (<tally/order.hpp>). A warp owns 1 or 2 adjacent chunks
// at a time, a block an aligned power of two of those, so every sum made here is a node of the
// order's tree. Absent terms, chunks and blocks count as +0, which changes no sum: none can be -0,
// since lanes start at +0. Compiled with -fmad=false: the product is rounded before it is added.
//
// Blocks hand their sums to the last-numbered block through words that it polls (words.hpp). That
// can't deadlock: it waits for blocks that wait for nobody, blocks start in the order of their
// numbers, and were that not so, any multiprocessor still has room for a second block beside it.
// The next launch on the stream takes no room before all blocks of this one have started.
#pragma once

#include "backends/cuda/dot_job.hpp"
#include "backends/cuda/dot_kernels.hpp"
#include "backends/cuda/dot_shape.hpp"
#include "backends/cuda/kernel.cuh"
#include "backends/cuda/words.hpp"
#include "backends/dot_sum.hpp"

#include <tally/order.hpp>

#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

inline constexpr int chunk = static_cast<int>(order::chunk);
inline constexpr int rows = chunk / static_cast<int>(order::lanes);  // terms that a lane adds

// --- Terms -----------------------------------------------------------------------------------

template <class R>
__device__ R product(R a, R b) {
  if constexpr (std::is_integral_v<R>) {  // modulo 2^64
    return static_cast<R>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

/// sum += x * y. Of a pair, the real operand comes first.
template <class A, class X, class Y>
__device__ void add_term(dot_sum<A>& sum, on_device_t<X> x, on_device_t<Y> y) {
  using R = real_t<A>;
  if constexpr (!is_complex_v<Y>) {
    sum = sum + dot_sum<A>{product(convert<R>(x), convert<R>(y))};
  } else if constexpr (!is_complex_v<X>) {
    const R re = convert<R>(x);
    sum.rr += re * convert<R>(y.re);
    sum.ri += re * convert<R>(y.im);
  } else {
    const R xr = convert<R>(x.re), xi = convert<R>(x.im);
    const R yr = convert<R>(y.re), yi = convert<R>(y.im);
    sum.rr += xr * yr;
    sum.ii += xi * yi;
    sum.ri += xr * yi;
    sum.ir += xi * yr;
  }
}

// --- Sums ------------------------------------------------------------------------------------

template <class A>
__device__ dot_sum<A> from_lane_xor(const dot_sum<A>& s, int mask) {
  const auto other = [mask](auto value) { return __shfl_xor_sync(whole_warp, value, mask); };
  if constexpr (is_complex_v<A>) {
    return {other(s.rr), other(s.ii), other(s.ri), other(s.ir)};
  } else {
    return {other(s.value)};
  }
}

template <class A>
__device__ dot_sum<A> from_lane(const dot_sum<A>& s, int source) {
  const auto other = [source](auto value) { return __shfl_sync(whole_warp, value, source); };
  if constexpr (is_complex_v<A>) {
    return {other(s.rr), other(s.ii), other(s.ri), other(s.ir)};
  } else {
    return {other(s.value)};
  }
}

/// The tree over the first `count` values, one a lane; a power of two, at most `most`.
template <unsigned most, class A>
__device__ dot_sum<A> add_lanes(dot_sum<A> s, unsigned count) {
#pragma unroll
  for (unsigned d = 1; d < most; d *= 2) {
    if (d >= count) break;
    s = s + from_lane_xor(s, static_cast<int>(d));
  }
  return s;
}

/// The tree over `count` values, a power of two, adjacent ones in one thread.
template <int count, class A>
__device__ dot_sum<A> add_thread(dot_sum<A> (&s)[count]) {
#pragma unroll
  for (int d = 1; d < count; d *= 2) {
#pragma unroll
    for (int i = 0; i < count; i += 2 * d) s[i] = s[i] + s[i + d];
  }
  return s[0];
}

/// A chunk's fold, and the tree over a warp's chunks after it. Thread t of the chunk's 64 / lanes
/// holds `s[v]` for the order's lane t * lanes + v. Wherever a thread has several values, each half
/// of the threads takes over half of them, so that the folding is shared out.
template <class A, int lanes>
__device__ dot_sum<A> fold(dot_sum<A> (&s)[lanes], int lane) {
  constexpr int threads = static_cast<int>(order::lanes) / lanes;
  int kept = lanes;
#pragma unroll
  for (int d = threads / 2; d > 0; d /= 2) {  // lanes 32, 16, ... `lanes` apart
    if (kept > 1) {
      kept /= 2;
      const bool upper = lane & d;
#pragma unroll
      for (int v = 0; v < lanes / 2; ++v) {
        if (v < kept) {
          const dot_sum<A> keep = upper ? s[v + kept] : s[v];
          const dot_sum<A> send = upper ? s[v] : s[v + kept];
          s[v] = keep + from_lane_xor(send, d);
        }
      }
    } else {
      s[0] = s[0] + from_lane_xor(s[0], d);
    }
  }
#pragma unroll
  for (int apart = lanes / 2, d = threads / 2; apart > 0; apart /= 2, d /= 2) {  // lanes / 2, ... 1
    s[0] = s[0] + from_lane_xor(s[0], d);
  }
#pragma unroll
  for (int d = threads; d < warp; d *= 2) s[0] = s[0] + from_lane_xor(s[0], d);  // chunks
  return s[0];
}

// --- A warp's share --------------------------------------------------------------------------

/// `n` within 0 and a chunk's length.
__device__ inline int within_chunk(std::int64_t n) {
  return n < 0 ? 0 : n < chunk ? static_cast<int>(n) : chunk;
}

/// The sum over the warp's chunks from `first` on, of contiguous vectors that start at multiples of
/// what a thread loads. This is the inner loop.
template <class A, class X, class Y, int lanes>
__device__ dot_sum<A> add_contiguous(const dot_job& job, std::int64_t first, int lane) {
  using DX = on_device_t<X>;
  using DY = on_device_t<Y>;
  constexpr int threads = static_cast<int>(order::lanes) / lanes;  // of a chunk
  // Rows whose loads are in flight at once: all of a chunk's, up to 512 bytes (128 registers).
  constexpr int row_bytes = lanes * static_cast<int>(sizeof(DX) + sizeof(DY));
  constexpr int in_flight = row_bytes > 32 ? 4 : 16;
  static_assert(rows % in_flight == 0 || rows < in_flight);

  const std::int64_t start = (first + lane / threads) * chunk + lane % threads * lanes;
  const DX* const x = static_cast<const DX*>(job.x) + start;
  const DY* const y = static_cast<const DY*>(job.y) + start;
  const int left = within_chunk(job.n - start);

  dot_sum<A> s[lanes];
  const auto add_rows = [&]<bool whole>() {
#pragma unroll
    for (int row = 0; row < rows; row += in_flight) {
      elements<DX, lanes> xs[in_flight];
      elements<DY, lanes> ys[in_flight];
      // All loads go out before the first addition, also where the vectors end: absent rows add +0.
#pragma unroll
      for (int r = 0; r < in_flight; ++r) {
        const int i = (row + r) * static_cast<int>(order::lanes);
        if (whole || i + lanes <= left) {
          xs[r].load(x + i);
          ys[r].load(y + i);
        }
      }
#pragma unroll
      for (int r = 0; r < in_flight; ++r) {
#pragma unroll
        for (int v = 0; v < lanes; ++v) add_term<A, X, Y>(s[v], xs[r][v], ys[r][v]);
      }
    }
  };
  if ((first + chunks_a_warp(lanes)) * chunk <= job.n) {
    add_rows.template operator()<true>();
  } else {
    add_rows.template operator()<false>();
    // The vectors' end inside what would be this thread's last load.
    const int i = left / static_cast<int>(order::lanes) * static_cast<int>(order::lanes);
    if (left - i < lanes) {
#pragma unroll
      for (int v = 0; v < lanes - 1; ++v) {
        if (i + v < left) add_term<A, X, Y>(s[v], x[i + v], y[i + v]);
      }
    }
  }
  return fold<A, lanes>(s, lane);
}

/// The same of any vectors, one element a load: a warp goes through its chunks one by one, and
/// thread t has the order's lanes t and t + 32, so that adjacent threads read adjacent elements.
template <class A, class X, class Y, int lanes>
__device__ dot_sum<A> add_strided(const dot_job& job, std::int64_t first, int lane) {
  using DX = on_device_t<X>;
  using DY = on_device_t<Y>;
  constexpr int own = order::lanes / warp;
  constexpr int in_flight = sizeof(DX) + sizeof(DY) > 8 ? 16 : 32;  // elements of each vector
  dot_sum<A> node;
#pragma unroll 1
  for (int c = 0; c < chunks_a_warp(lanes); ++c) {
    const std::int64_t start = (first + c) * chunk + lane;
    const DX* x = static_cast<const DX*>(job.x) + start * job.x_increment;
    const DY* y = static_cast<const DY*>(job.y) + start * job.y_increment;
    const int left = within_chunk(job.n - start);
    dot_sum<A> s[own];
#pragma unroll 1
    for (int done = 0; done < chunk; done += in_flight * static_cast<int>(warp)) {
      DX xs[in_flight] = {};
      DY ys[in_flight] = {};
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        if (done + i * static_cast<int>(warp) < left) {
          xs[i] = *x;
          ys[i] = *y;
        }
        x += warp * job.x_increment;
        y += warp * job.y_increment;
      }
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        add_term<A, X, Y>(s[i % own], xs[i], ys[i]);
      }
    }
    s[0] = s[0] + s[1];
#pragma unroll
    for (int d = warp / 2; d > 0; d /= 2) s[0] = s[0] + from_lane_xor(s[0], d);
    node = c == 0 ? s[0] : node + s[0];
  }
  return node;
}

// --- The whole -------------------------------------------------------------------------------

/// The tree over the sums of all blocks, in the first warp; the last block calls it.
template <class A>
__device__ dot_sum<A> add_blocks(const dot_job& job, int lane, unsigned w) {
  constexpr unsigned words = words_of<dot_sum<A>>;
  constexpr unsigned run = 8;  // words that a thread takes, at once: 1 to 8 blocks' sums
  constexpr unsigned span = warp * run;
  constexpr unsigned most_spans = workspace_words / span;
  static_assert(most_spans <= warp);
  __shared__ dot_sum<A> sums[most_spans];

  // Fills up the last thread's run.
  if (w == 0 && lane < -gridDim.x % (run / words)) {
    put(job.words + (gridDim.x + lane) * words, dot_sum<A>());
  }
  const unsigned used = gridDim.x * words;
  const unsigned spans = (used + span - 1) / span;
  dot_sum<A> total;
  for (unsigned i = w; i < spans; i += blockDim.x / warp) {
    const unsigned first = i * span + lane * run;
    const bool takes = first < used;
    std::uint32_t payload[run];
    take(job.words + (takes ? first : i * span), takes, payload);
    dot_sum<A> s[run / words];
    memcpy(s, payload, sizeof payload);
    total = add_lanes<warp>(add_thread(s), warp);
    if (lane == 0) sums[i] = total;
  }
  if (spans > 1) {
    __syncthreads();
    if (w == 0) total = add_lanes<warp>(lane < spans ? sums[lane] : dot_sum<A>(), warp);
  }
  return total;
}

/// `contiguous`: both vectors are, and start at multiples of what a thread loads.
template <class A, class X, class Y, bool contiguous>
__global__ void __launch_bounds__(max_warps* warp, 2) dot_kernel(const dot_job job) {
  constexpr int lanes = lanes_a_thread(sizeof(X), sizeof(Y));
  constexpr unsigned run = 8;  // sums that a thread adds
  __shared__ dot_sum<A> sums[max_tiles * max_warps];
  const int lane = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  wait_for_launch_before();
  if (w == 0 && lane >= warps && lane < run) sums[lane] = {};  // no warp's, in a small block

  // Tiles are added `in_round` at a time, in the first warp. Rounds combine as they come, in a
  // binary counter: its lane j holds a sum of 2^j rounds where bit j of their number is set.
  const unsigned in_round = job.tiles < max_tiles ? job.tiles : max_tiles;
  dot_sum<A> total, held;
  std::int64_t node = std::int64_t{blockIdx.x} * (job.tiles * warps) + w;
#pragma unroll 1
  for (unsigned tile = 0;; node += warps) {
    const std::int64_t first = node * chunks_a_warp(lanes);
    dot_sum<A> s;
    if constexpr (contiguous) {
      s = add_contiguous<A, X, Y, lanes>(job, first, lane);
    } else {
      s = add_strided<A, X, Y, lanes>(job, first, lane);
    }
    if (lane == 0) sums[(tile & (in_round - 1)) * warps + w] = s;
    if ((++tile & (in_round - 1)) != 0) continue;

    __syncthreads();
    if (w == 0) {
      dot_sum<A> adjacent[run];
#pragma unroll
      for (unsigned i = 0; i < run; ++i) adjacent[i] = sums[lane % max_tiles * run + i];
      total = add_lanes<max_tiles * max_warps / run>(add_thread(adjacent), in_round * warps / run);
      if (job.tiles > max_tiles) {
        const unsigned round = tile / max_tiles - 1;
        int j = 0;
        for (; round >> j & 1; ++j) total = from_lane(held, j) + total;
        if (lane == j) held = total;
      }
    }
    if (tile == job.tiles) break;
    __syncthreads();
  }
  let_launch_after_start();

  if (gridDim.x > 1) {
    if (threadIdx.x == 0) put(job.words + blockIdx.x * words_of<dot_sum<A>>, total);
    if (blockIdx.x + 1 < gridDim.x) return;
    total = add_blocks<A>(job, lane, w);
  }
  if (threadIdx.x == 0) {
    deliver<is_complex_v<A> ? 2 : 1>(finish_parts(total, job.conjugated), job.tag, job.result);
    // Nothing waits for its answer. The type is atomicAdd's name for std::uint64_t.
    if (job.ended != nullptr) atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
  }
}

template <class A, bool contiguous>
struct dot_kernel_of {
  template <class X, class Y>
  constexpr auto operator()() const {
    return &dot_kernel<A, X, Y, contiguous>;
  }
};

/// For dot_kernels.hpp. Every pair of types that `A` can accumulate is instantiated here.
template <class A>
const pair_table<dot_kernel_function>& table_of_dot_kernels(bool contiguous) {
  static constexpr auto of_contiguous =
      make_pair_table<dot_kernel_function, A>(dot_kernel_of<A, true>());
  static constexpr auto of_any = make_pair_table<dot_kernel_function, A>(dot_kernel_of<A, false>());
  return contiguous ? of_contiguous : of_any;
}

}  // namespace tally::backends::cuda
