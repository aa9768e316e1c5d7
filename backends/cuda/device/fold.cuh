// Additions in the order's tree: within a thread, across a warp, over lanes, and leaf by leaf.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/cuda/device/kernel.cuh"

#include <tally/numerics/order.hpp>

namespace tally::backends::cuda {

inline constexpr int chunk = static_cast<int>(order::chunk);
// Terms of a chunk per lane.
inline constexpr int rows_of_chunk = chunk / static_cast<int>(order::lanes);

__device__ inline int within_chunk(std::int64_t n) {
  return n < 0 ? 0 : n < chunk ? static_cast<int>(n) : chunk;
}

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

/// Adds up the first `count` threads' values; a power of two, at most `max_count`.
template <unsigned max_count, class Sum>
__device__ Sum add_across_threads(Sum s, unsigned count) {
#pragma unroll
  for (unsigned d = 1; d < max_count; d *= 2) {
    if (d >= count) break;
    s = s + from_thread_xor(s, static_cast<int>(d));
  }
  return s;
}

/// Adds up one thread's values; `count` is a power of two.
template <int count, class Sum>
__device__ Sum add_within_thread(Sum (&s)[count]) {
#pragma unroll
  for (int d = 1; d < count; d *= 2) {
#pragma unroll
    for (int i = 0; i < count; i += 2 * d) s[i] = s[i] + s[i + d];
  }
  return s[0];
}

/// Adds a leaf after `leaves` others, in a warp, and returns the largest node that ends with it.
/// Thread j's `held` is the sum of 2^j leaves if bit j of their number is set.
template <class Sum>
__device__ Sum add_leaf(Sum& held, unsigned leaves, Sum leaf, int thread) {
  int j = 0;
  for (; leaves >> j & 1; ++j) leaf = from_thread(held, j) + leaf;
  if (thread == j) held = leaf;
  return leaf;
}

/// The order's tree, built in a warp as leaves arrive.
template <class Sum>
class warp_tree {
 public:
  __device__ void add(const Sum& leaf, int thread) { add_leaf(held_, leaves_++, leaf, thread); }
  __device__ Sum total() const {
    Sum sum;
    bool first = true;
    for (int j = 0; leaves_ >> j != 0; ++j) {
      if ((leaves_ >> j & 1) == 0) continue;
      const Sum s = from_thread(held_, j);
      sum = first ? s : s + sum;
      first = false;
    }
    return sum;
  }

 private:
  Sum held_;
  unsigned leaves_ = 0;
};

/// Adds lanes `threads` / 2, ... 1 threads apart.
template <unsigned threads, class Sum>
__device__ Sum fold_across_threads(Sum s) {
#pragma unroll
  for (int d = static_cast<int>(threads) / 2; d > 0; d /= 2) s = s + from_thread_xor(s, d);
  return s;
}

/// Adds a thread's lanes `count` / 2, ... 1 apart.
template <int count, class Sum>
__device__ Sum fold_within_thread(Sum (&s)[count]) {
#pragma unroll
  for (int half = count / 2; half > 0; half /= 2) {
#pragma unroll
    for (int v = 0; v < half; ++v) s[v] = s[v] + s[v + half];
  }
  return s[0];
}

/// Folds a chunk's lanes, then adds up the warp's chunks in the tree's order. Thread t of a chunk
/// has lane t * lanes + v in `s[v]`. While threads have several values, each half takes over half
/// of them, to share the additions.
template <class Sum, int lanes>
__device__ Sum fold(Sum (&s)[lanes], int thread) {
  constexpr int threads = static_cast<int>(order::lanes) / lanes;
  int kept = lanes;
#pragma unroll
  for (int d = threads / 2; d > 0; d /= 2) {  // lanes 32, 16, ... `lanes` apart
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
  // Then lanes / 2, ... 1 apart.
  for (int apart = lanes / 2, d = threads / 2; apart > 0; apart /= 2, d /= 2) {
    s[0] = s[0] + from_thread_xor(s[0], d);
  }
#pragma unroll
  for (int d = threads; d < warp; d *= 2) s[0] = s[0] + from_thread_xor(s[0], d);  // then chunks
  return s[0];
}

}  // namespace tally::backends::cuda
