// This is the one kernel that sums on a GPU: dot, sum, asum and nrm2 are this kernel with different
// terms, and each call is one launch.
//
// Promise: the result has the bits of the order contract (<tally/order.hpp>). A warp owns 1 to 4
// adjacent chunks at a time, and a block owns an aligned power of two of those, so every sum made
// here is a node of the order's tree. Absent terms, chunks and blocks count as +0. That changes no
// sum, because none can be -0: lanes start at +0. The code is compiled with -fmad=false, so a
// product is rounded before it is added.
//
// Each block hands its sum to the last-numbered block through words that this block polls
// (words.hpp). That can't deadlock: the last block waits for blocks that wait for nobody, and
// blocks start in the order of their numbers. Even if they did not, a multiprocessor has room for a
// second block beside the one that waits. The next launch on the stream takes no room before all
// blocks of this one have started.
//
// `Terms` tells what is added. It is a type with these members:
//   X, Y       are the types of the elements; Y is void where there is one vector.
//   lanes      says how many of the order's lanes a thread owns.
//   sum        is the type that is summed in: values, complex values, or norms.
//   add        adds the term of one element of each vector to a sum.
//   rescales   says whether the elements are read a second time (norm_sum says why).
//   add_scaled adds the scaled term to a sum that is otherwise complete.
//   parts      says how many numbers a result has; `finish` makes them of the sum.
#pragma once

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/dot/job.hpp"
#include "backends/cuda/dot/shape.hpp"
#include "src/core/order/dot_sum.hpp"
#include "src/core/order/reduce_sum.hpp"

#include <tally/order.hpp>

#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

inline constexpr int chunk = static_cast<int>(order::chunk);
// A lane adds this many terms of a chunk.
inline constexpr int rows_of_chunk = chunk / static_cast<int>(order::lanes);

// --- Sums ------------------------------------------------------------------------------------

/// Returns a sum with f applied to each number in it.
template <class A, class F>
__device__ dot_sum<A> mapped(const dot_sum<A>& s, F f) {
  if constexpr (is_complex_v<A>) {
    return {f(s.rr), f(s.ii), f(s.ri), f(s.ir)};
  } else {
    return {f(s.value)};
  }
}
template <class A, class F>
__device__ reduce_sum<A> mapped(const reduce_sum<A>& s, F f) {
  if constexpr (is_complex_v<A>) {
    return {f(s.re), f(s.im)};
  } else {
    return {f(s.value)};
  }
}
template <class A, class F>
__device__ norm_sum<A> mapped(const norm_sum<A>& s, F f) {
  if constexpr (is_complex_v<A>) {
    return {mapped(s.re, f), mapped(s.im, f)};
  } else {
    return {f(s.sum), f(s.scaled)};
  }
}

template <class Sum>
__device__ Sum from_thread_xor(const Sum& s, int mask) {
  return mapped(s, [mask](auto value) { return __shfl_xor_sync(whole_warp, value, mask); });
}

template <class Sum>
__device__ Sum from_thread(const Sum& s, int source) {
  return mapped(s, [source](auto value) { return __shfl_sync(whole_warp, value, source); });
}

/// Adds up the first `count` values in the tree's order, one value in each thread. `count` is a
/// power of two, at most `most`.
template <unsigned most, class Sum>
__device__ Sum add_across_threads(Sum s, unsigned count) {
#pragma unroll
  for (unsigned d = 1; d < most; d *= 2) {
    if (d >= count) break;
    s = s + from_thread_xor(s, static_cast<int>(d));
  }
  return s;
}

/// Adds up `count` values of one thread in the tree's order; `count` is a power of two.
template <int count, class Sum>
__device__ Sum add_within_thread(Sum (&s)[count]) {
#pragma unroll
  for (int d = 1; d < count; d *= 2) {
#pragma unroll
    for (int i = 0; i < count; i += 2 * d) s[i] = s[i] + s[i + d];
  }
  return s[0];
}

/// Folds a chunk's lanes, and then adds up the warp's chunks in the tree's order. Thread t of a
/// chunk's 64 / lanes threads has the order's lane t * lanes + v in `s[v]`. Wherever a thread has
/// several values, each half of the threads takes over half of them, so that all threads share the
/// additions.
template <class Sum, int lanes>
__device__ Sum fold(Sum (&s)[lanes], int thread) {
  constexpr int threads = static_cast<int>(order::lanes) / lanes;
  int kept = lanes;
#pragma unroll
  for (int d = threads / 2; d > 0; d /= 2) {  // adds lanes that are 32, 16, ... `lanes` apart
    if (kept > 1) {
      kept /= 2;
      const bool upper = thread & d;
#pragma unroll
      for (int v = 0; v < lanes / 2; ++v) {
        if (v < kept) {
          const Sum keep = upper ? s[v + kept] : s[v];
          const Sum send = upper ? s[v] : s[v + kept];
          s[v] = keep + from_thread_xor(send, d);
        }
      }
    } else {
      s[0] = s[0] + from_thread_xor(s[0], d);
    }
  }
#pragma unroll
  // Then those lanes / 2, ... 1 apart.
  for (int apart = lanes / 2, d = threads / 2; apart > 0; apart /= 2, d /= 2) {
    s[0] = s[0] + from_thread_xor(s[0], d);
  }
#pragma unroll
  for (int d = threads; d < warp; d *= 2) s[0] = s[0] + from_thread_xor(s[0], d);  // then chunks
  return s[0];
}

// --- A warp's share --------------------------------------------------------------------------

/// Returns `n`, brought within 0 and the length of a chunk.
__device__ inline int within_chunk(std::int64_t n) {
  return n < 0 ? 0 : n < chunk ? static_cast<int>(n) : chunk;
}

template <class Terms>
inline constexpr bool has_two = !std::is_void_v<typename Terms::Y>;

/// These are the types of the elements on the device. Where there is one vector, nobody uses
/// `device_y`.
template <class Terms>
using device_x = on_device_t<typename Terms::X>;
template <class Terms>
using device_y = on_device_t<std::conditional_t<has_two<Terms>, typename Terms::Y, std::uint8_t>>;
template <class Terms>
inline constexpr int element_bytes =
    static_cast<int>(sizeof(device_x<Terms>) + (has_two<Terms> ? sizeof(device_y<Terms>) : 0));

/// Adds an element's term when the elements are read for the first time.
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

/// Adds an element's scaled term when they are read for the second time.
template <class Terms>
struct add_scaled_term {
  __device__ void operator()(typename Terms::sum& s, device_x<Terms> x, device_y<Terms>) const {
    Terms::add_scaled(s, x);
  }
};

/// Returns the larger of a norm's sums of squares.
template <class A>
__device__ real_t<A> largest(const norm_sum<A>& s) {
  if constexpr (is_complex_v<A>) {
    return largest(s.re) > largest(s.im) ? largest(s.re) : largest(s.im);
  } else {
    return s.sum;
  }
}

/// Says whether this thread must read its elements a second time. All threads of a warp must call
/// it together. A second reading is not needed where one of the warp's sums is so large that none
/// of its elements will be scaled up, while all of this thread's sums are so small that its
/// elements, scaled down, would add 0. (The sums that this leaves out change no result: norm_sum
/// says why.)
template <class A, int lanes>
__device__ bool needs_scaled(const norm_sum<A> (&s)[lanes]) {
  using range = norm_range<real_t<A>>;
  real_t<A> most = 0;
#pragma unroll
  for (int v = 0; v < lanes; ++v) most = largest(s[v]) > most ? largest(s[v]) : most;
  return !__any_sync(whole_warp, most >= range::least) || most >= range::unheard;
}

/// Sums the warp's chunks from `first` on, where the vectors are contiguous and start at multiples
/// of what a thread loads. This is the inner loop.
template <class Terms>
__device__ typename Terms::sum add_contiguous(const dot_job& job, std::int64_t first, int thread) {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  constexpr int lanes = Terms::lanes;
  constexpr int threads = static_cast<int>(order::lanes) / lanes;  // a chunk has this many threads
  // A thread has the loads of so many rows in flight at once: all of a chunk's, up to 512 bytes
  // (128 registers).
  constexpr int row_bytes = lanes * element_bytes<Terms>;
  constexpr int in_flight = row_bytes > 32 ? 4 : 16;
  static_assert(rows_of_chunk % in_flight == 0 || rows_of_chunk < in_flight);

  const std::int64_t start = (first + thread / threads) * chunk + thread % threads * lanes;
  const DX* const x = static_cast<const DX*>(job.x) + start;
  [[maybe_unused]] const DY* const y = static_cast<const DY*>(job.y) + (has_two<Terms> ? start : 0);
  const int left = within_chunk(job.n - start);

  Sum s[lanes];
  const auto add_rows = [&]<bool whole>(auto add) {
#pragma unroll
    for (int row = 0; row < rows_of_chunk; row += in_flight) {
      elements<DX, lanes> xs[in_flight];
      elements<DY, lanes> ys[in_flight];
      // All loads go out before the first addition, even at the vectors' end: absent rows add +0.
#pragma unroll
      for (int r = 0; r < in_flight; ++r) {
        const int i = (row + r) * static_cast<int>(order::lanes);
        if (whole || i + lanes <= left) {
          xs[r].load(x + i);
          if constexpr (has_two<Terms>) ys[r].load(y + i);
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
    if ((first + chunks_a_warp(lanes)) * chunk <= job.n) {
      add_rows.template operator()<true>(add);
    } else {
      add_rows.template operator()<false>(add);
      // The vectors end inside what would be this thread's last load.
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

/// Sums the warp's chunks of any vectors, one element a load. A warp goes through its chunks one by
/// one, and thread t has the order's lanes t and t + 32, so that adjacent threads read adjacent
/// elements.
template <class Terms>
__device__ typename Terms::sum add_strided(const dot_job& job, std::int64_t first, int thread) {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  constexpr int own = order::lanes / warp;
  constexpr int bytes = element_bytes<Terms>;
  constexpr int in_flight = bytes > 8 ? 16 : 32;  // elements of each vector
  Sum node;
#pragma unroll 1
  for (int c = 0; c < chunks_a_warp(Terms::lanes); ++c) {
    const std::int64_t start = (first + c) * chunk + thread;
    const int left = within_chunk(job.n - start);
    Sum s[own];
    const auto add_all = [&](auto add) {
      const DX* x = static_cast<const DX*>(job.x) + start * job.x_increment;
      [[maybe_unused]] const DY* y =
          static_cast<const DY*>(job.y) + (has_two<Terms> ? start * job.y_increment : 0);
#pragma unroll 1
      for (int done = 0; done < chunk; done += in_flight * static_cast<int>(warp)) {
        DX xs[in_flight] = {};
        DY ys[in_flight] = {};
#pragma unroll
        for (int i = 0; i < in_flight; ++i) {
          if (done + i * static_cast<int>(warp) < left) {
            xs[i] = *x;
            if constexpr (has_two<Terms>) ys[i] = *y;
          }
          x += warp * job.x_increment;
          if constexpr (has_two<Terms>) y += warp * job.y_increment;
        }
#pragma unroll
        for (int i = 0; i < in_flight; ++i) add(s[i % own], xs[i], ys[i]);
      }
    };
    add_all(add_term<Terms>());
    if constexpr (Terms::rescales) {
      if (needs_scaled(s) && left > 0) add_all(add_scaled_term<Terms>());
    }
    s[0] = s[0] + s[1];
#pragma unroll
    for (int d = warp / 2; d > 0; d /= 2) s[0] = s[0] + from_thread_xor(s[0], d);
    node = c == 0 ? s[0] : node + s[0];
  }
  return node;
}

// --- The whole -------------------------------------------------------------------------------

/// Adds up the sums of all blocks in the tree's order, in the first warp. The last block calls it.
template <class Sum>
__device__ Sum add_blocks(const dot_job& job, int thread, unsigned w) {
  constexpr unsigned words = words_of<Sum>;  // it is a power of two, at most `at_once`
  constexpr unsigned at_once = 8;  // a thread takes this many words at once: 1 to 8 blocks' sums
  constexpr unsigned span = warp * at_once;
  constexpr unsigned most_spans = workspace_words / span;
  static_assert(most_spans <= warp);
  __shared__ Sum sums[most_spans];

  // The last thread's words must all be full.
  if (w == 0 && thread < -gridDim.x % (at_once / words)) {
    put(job.words + (gridDim.x + thread) * words, Sum());
  }
  const unsigned used = gridDim.x * words;
  const unsigned spans = (used + span - 1) / span;
  Sum total;
  for (unsigned i = w; i < spans; i += blockDim.x / warp) {
    const unsigned first = i * span + thread * at_once;
    const bool takes = first < used;
    std::uint32_t payload[at_once];
    take(job.words + (takes ? first : i * span), takes, payload);
    Sum s[at_once / words];
    memcpy(s, payload, sizeof payload);
    total = add_across_threads<warp>(add_within_thread(s), warp);
    if (thread == 0) sums[i] = total;
  }
  if (spans > 1) {
    __syncthreads();
    if (w == 0) total = add_across_threads<warp>(thread < spans ? sums[thread] : Sum(), warp);
  }
  return total;
}

/// `contiguous` says that the vectors are contiguous and start at multiples of what a thread loads.
template <class Terms, bool contiguous>
__global__ void __launch_bounds__(max_warps* warp, 2) sum_kernel(const dot_job job) {
  using Sum = typename Terms::sum;
  constexpr unsigned at_once = 8;  // a thread adds this many sums
  __shared__ Sum sums[max_tiles * max_warps];
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  wait_for_launch_before();
  // A small block has no warps for these.
  if (w == 0 && thread >= warps && thread < at_once) sums[thread] = {};

  // The first warp adds up the sums of `in_round` tiles at a time. It combines the rounds as they
  // come, in a binary counter: its thread j holds the sum of 2^j rounds where bit j of their number
  // is set.
  const unsigned in_round = job.tiles < max_tiles ? job.tiles : max_tiles;
  Sum total, held;
  std::int64_t node = std::int64_t{blockIdx.x} * (job.tiles * warps) + w;
#pragma unroll 1
  for (unsigned tile = 0;; node += warps) {
    const std::int64_t first = node * chunks_a_warp(Terms::lanes);
    Sum s;
    if constexpr (contiguous) {
      s = add_contiguous<Terms>(job, first, thread);
    } else {
      s = add_strided<Terms>(job, first, thread);
    }
    if (thread == 0) sums[(tile & (in_round - 1)) * warps + w] = s;
    if ((++tile & (in_round - 1)) != 0) continue;

    __syncthreads();
    if (w == 0) {
      Sum adjacent[at_once];
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) adjacent[i] = sums[thread % max_tiles * at_once + i];
      total = add_across_threads<max_tiles * max_warps / at_once>(add_within_thread(adjacent),
                                                                  in_round * warps / at_once);
      if (job.tiles > max_tiles) {
        const unsigned round = tile / max_tiles - 1;
        int j = 0;
        for (; round >> j & 1; ++j) total = from_thread(held, j) + total;
        if (thread == j) held = total;
      }
    }
    if (tile == job.tiles) break;
    __syncthreads();
  }
  let_launch_after_start();

  if (gridDim.x > 1) {
    if (threadIdx.x == 0) put(job.words + blockIdx.x * words_of<Sum>, total);
    if (blockIdx.x + 1 < gridDim.x) return;
    total = add_blocks<Sum>(job, thread, w);
  }
  if (threadIdx.x == 0) {
    deliver<Terms::parts>(Terms::finish(total, job), job.tag, job.result);
    // Nobody waits for what atomicAdd returns. It knows std::uint64_t by the name unsigned long
    // long only.
    if (job.ended != nullptr) atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
  }
}

}  // namespace tally::backends::cuda
