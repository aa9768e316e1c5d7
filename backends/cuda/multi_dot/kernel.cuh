// Several dot products in one launch.
//
// Promise: the bits of the order contract, and no deadlock, as in device/sum_kernel.cuh: the few
// blocks that wait leave room for others.
//
// A block goes over its pairs tile by tile. Of a common y a thread keeps its part of the tile in
// registers; other shared vectors come from L2 the second time.
#pragma once

#include "backends/cuda/device/any_share.cuh"
#include "backends/cuda/device/update.cuh"
#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/multi_dot/kernels.hpp"

namespace tally::backends::cuda {

/// Terms whose sums may update a vector have the member `updates`.
template <class Terms>
concept may_update = requires { Terms::updates; };

/// Products with one vector, for launches that overlap no other: y comes through L1.
template <class A, class X, class Y>
struct products_with_one : products<A, X, Y> {
  static constexpr bool y_is_common = true, updates = true;
};

/// x and y of a pair, after those of the first.
struct pair_offsets {
  std::ptrdiff_t x, y;
};
__device__ inline pair_offsets offsets_of(const multi_dot_job& job, std::int64_t pair) {
  if (job.rows_per_block == 0) return {pair * job.x_distance, pair * job.y_distance};
  const std::uint64_t all = job.pairs_before + static_cast<std::uint64_t>(pair);
  const std::uint64_t block = all / job.rows_per_block;
  const auto row = static_cast<std::ptrdiff_t>(all - block * job.rows_per_block);
  const auto o = static_cast<std::ptrdiff_t>(block);
  return {row * job.x_distance + o * job.x_block, row * job.y_distance + o * job.y_block};
}

__device__ inline sum_job job_of(const multi_dot_job& job, unsigned pair) {
  sum_job one;
  const listed_pair& p = job.listed ? job.list[pair] : job.first;
  const pair_offsets offsets = job.listed ? pair_offsets{0, 0} : offsets_of(job, pair);
  one.x = static_cast<const char*>(p.x) + offsets.x;
  one.y = static_cast<const char*>(p.y) + offsets.y;
  one.n = p.n;
  one.x_increment = p.x_increment;
  one.y_increment = p.y_increment;
  one.x_type = job.x_type;
  one.y_type = job.y_type;
  return one;
}

template <class A>
__device__ complex_number<real_t<A>> finished(const dot_sum<A>& sum, conjugate conjugated) {
  return finish_parts(sum, conjugated);
}
template <class A>
__device__ complex_number<real_t<A>> finished(const reduce_sum<A>& sum, conjugate) {
  return finish_parts(sum, reduction::sum);
}

/// Writes result `pair`, or updates y. `Job`: multi_dot_job or columns_job.
template <class Terms, class Job, template <class> class Sum, class A>
__device__ void deliver_sum(const Job& job, std::int64_t pair, const Sum<A>& sum) {
  using R = real_t<A>;
  constexpr int parts = is_complex_v<A> ? 2 : 1;
  constexpr int plain = parts * static_cast<int>(sizeof(R)), in_words = parts * words_per<R> * 8;
  const complex_number<R> all = finished(sum, job.conjugated);
  if constexpr (may_update<Terms> && !std::is_integral_v<A>) {
    if (job.update.y.data != nullptr) return write_row<A>(job.update, pair, all);
  }
  auto* const to = static_cast<char*>(job.results) + pair * (job.tag == 0 ? plain : in_words);
  deliver<parts>(all, job.tag, to);
}

/// A thread's part of a common y over the warp's chunks. The loads of `in_flight` rows of x go out
/// at once.
template <class Terms, int in_flight>
struct kept_part {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  static constexpr int lanes = Terms::lanes;

  elements<DY, lanes> y[rows_of_chunk];

  __device__ void load(const sum_job& job, std::int64_t first, int thread) {
    const std::int64_t start = start_of(first, thread);
    const int left = within_chunk(job.n - start);
#pragma unroll
    for (int r = 0; r < rows_of_chunk; ++r) {
      const int i = r * static_cast<int>(order::lanes);
      y[r] = {};
      if (i + lanes <= left) y[r].load(static_cast<const DY*>(job.y) + start + i);
    }
  }

  __device__ Sum add(const sum_job& job, std::int64_t first, int thread) const {
    const std::int64_t start = start_of(first, thread);
    const DX* const x = static_cast<const DX*>(job.x) + start;
    const int left = within_chunk(job.n - start);
    Sum s[lanes];
    const auto add_rows = [&]<bool whole>() {
#pragma unroll
      for (int row = 0; row < rows_of_chunk; row += in_flight) {
        elements<DX, lanes> xs[in_flight];
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
          const int i = (row + r) * static_cast<int>(order::lanes);
          if (whole || i + lanes <= left) xs[r].load(x + i);
        }
#pragma unroll
        for (int r = 0; r < in_flight; ++r) {
#pragma unroll
          for (int v = 0; v < lanes; ++v) Terms::add(s[v], xs[r][v], y[row + r][v]);
        }
      }
    };
    if ((first + chunks_per_warp(lanes)) * chunk <= job.n) {
      add_rows.template operator()<true>();
    } else {
      add_rows.template operator()<false>();
      const int i = left / static_cast<int>(order::lanes) * static_cast<int>(order::lanes);
      if (left - i < lanes) {
        const DY* const tail = static_cast<const DY*>(job.y) + start;
#pragma unroll
        for (int v = 0; v < lanes - 1; ++v) {
          if (i + v < left) Terms::add(s[v], x[i + v], tail[i + v]);
        }
      }
    }
    return fold(s, thread);
  }

 private:
  static __device__ std::int64_t start_of(std::int64_t first, int thread) {
    constexpr int threads = static_cast<int>(order::lanes) / lanes;
    return (first + thread / threads) * chunk + thread % threads * lanes;
  }
};

/// Keeps nothing: each pair's y is read.
template <class Share>
struct nothing_kept {
  static constexpr int lanes = Share::lanes;

  __device__ void load(const sum_job&, std::int64_t, int) {}
  __device__ auto add(const sum_job& job, std::int64_t first, int thread) const {
    return Share::add(job, first, thread);
  }
};

/// Blocks (i, j), for all i, sum pairs [j * pairs_per_block, (j + 1) * pairs_per_block).
template <class Terms, class Kept>
__device__ void add_pairs(const multi_dot_job& job, Kept kept) {
  using Sum = typename Terms::sum;
  constexpr unsigned max_rounds = 24;  // fewer than 2^24 rounds
  __shared__ round_sums<Sum> sums[max_listed];
  __shared__ uninitialised<Sum, max_rounds> held[max_listed];
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  wait_for_launch_before();
  const unsigned first_pair = blockIdx.y * job.pairs_per_block;
  const unsigned pairs =
      job.pairs - first_pair < job.pairs_per_block ? job.pairs - first_pair : job.pairs_per_block;
  for (unsigned p = w; p < pairs; p += warps) clear_round<Sum>(sums[p], warps, thread);

  const unsigned in_round = job.tiles < max_tiles ? job.tiles : max_tiles;
  std::int64_t node = std::int64_t{blockIdx.x} * (job.tiles * warps) + w;
#pragma unroll 1
  for (unsigned tile = 0;; node += warps) {
    const std::int64_t first = node * chunks_per_warp(Kept::lanes);
    kept.load(job_of(job, first_pair), first, thread);
#pragma unroll 1
    for (unsigned p = 0; p < pairs; ++p) {
      const Sum s = kept.add(job_of(job, first_pair + p), first, thread);
      if (thread == 0) sums[p][(tile & (in_round - 1)) * warps + w] = s;
    }
    if ((++tile & (in_round - 1)) != 0) continue;

    __syncthreads();
    const bool ends = tile == job.tiles;
    if (ends) let_launch_after_start();
    for (unsigned p = w; p < pairs; p += warps) {
      Sum total = add_round<Sum>(sums[p], in_round * warps, thread);
      if (thread != 0) continue;
      // Rounds combine as they come, in a binary counter.
      const unsigned round = tile / in_round - 1;
      int j = 0;
      for (; round >> j & 1; ++j) total = held[p][j] + total;
      held[p][j] = total;
      if (!ends) continue;
      if (gridDim.x == 1) {
        deliver_sum<Terms>(job, first_pair + p, total);
      } else {
        put(job.words + (first_pair + p) * words_of_blocks(gridDim.x, words_per<Sum>) +
                blockIdx.x * words_per<Sum>,
            total);
      }
    }
    if (ends) break;
    __syncthreads();
  }

  if (gridDim.x == 1 || blockIdx.x + 1 < gridDim.x) return;
  for (unsigned p = w; p < pairs; p += warps) {
    __syncwarp();
    const Sum total = add_blocks_in_warp<Sum>(
        job.words + (first_pair + p) * words_of_blocks(gridDim.x, words_per<Sum>), gridDim.x,
        thread);
    if (thread == 0) {
      deliver_sum<Terms>(job, first_pair + p, total);
      count_as_ended(job.ended);
    }
  }
}

/// Kernel for contiguous, aligned pairs with the same y.
template <class Terms, int in_flight>
__global__ void __launch_bounds__(max_warps* warp, 2)
    against_one_kernel(const __grid_constant__ multi_dot_job job) {
  add_pairs<Terms>(job, kept_part<Terms, in_flight>());
}

template <class Share>
__global__ void __launch_bounds__(max_warps* warp, 2)
    pairs_kernel(const __grid_constant__ multi_dot_job job) {
  add_pairs<typename Share::Terms>(job, nothing_kept<Share>());
}

/// Pairs of at most max_warps nodes, several in a block: `warps_per_pair` warps, a power of two,
/// have a node each.
template <class Share>
__global__ void __launch_bounds__(max_warps* warp, 2)
    grouped_pairs_kernel(const __grid_constant__ multi_dot_job job) {
  using Terms = typename Share::Terms;
  using Sum = typename Terms::sum;
  __shared__ uninitialised<Sum, max_warps> sums;
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp, warps = job.warps_per_pair;
  wait_for_launch_before();
  const unsigned pair = blockIdx.x * (max_warps / warps) + w / warps, node = w % warps;
  const bool exists = pair < job.pairs;
  Sum s;
  if (exists) s = Share::add(job_of(job, pair), node * chunks_per_warp(Share::lanes), thread);
  let_launch_after_start();
  if (warps > 1) {
    if (thread == 0) sums[w] = s;
    __syncthreads();
    if (node != 0) return;
    s = add_across_threads<max_warps>(thread < warps ? sums[w + thread] : Sum(), warps);
  }
  if (exists && thread == 0) deliver_sum<Terms>(job, pair, s);
}

/// Contiguous pairs of at most a chunk. `threads_per_pair` threads, a power of two, have the lanes
/// that exist. A thread has `sets` rows in flight: of as many pairs, or of one.
template <class Terms, bool aligned, int sets>
__global__ void __launch_bounds__(max_warps* warp)
    short_pairs_kernel(const __grid_constant__ multi_dot_job job) {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  constexpr int lanes = Terms::lanes;
  wait_for_launch_before();
  const unsigned threads = job.threads_per_pair;
  const unsigned thread = threadIdx.x % warp;
  const unsigned pairs_per_warp = warp / threads;
  const int begin = static_cast<int>(thread % threads) * lanes;
  const int n = static_cast<int>(job.first.n);

  // Loads a thread's existing elements from i on.
  const auto load = [&](elements<DX, lanes>& x, elements<DY, lanes>& y, std::int64_t pair, int i) {
    const pair_offsets offsets = offsets_of(job, pair);
    const DX* const px =
        reinterpret_cast<const DX*>(static_cast<const char*>(job.first.x) + offsets.x);
    [[maybe_unused]] const DY* const py =
        reinterpret_cast<const DY*>(static_cast<const char*>(job.first.y) + offsets.y);
    if (aligned && i + lanes <= n) {
      x.load(px + i);
      if constexpr (has_two<Terms>) load_y<Terms>(y, py + i);
    } else if (i < n) {
      x.load(px + i, n - i);
      if constexpr (has_two<Terms>) y.load(py + i, n - i);
    }
  };

  const std::int64_t first_warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp;
  if (n <= static_cast<int>(order::lanes)) {
    const std::int64_t first = first_warp * sets * pairs_per_warp + thread / threads;
    elements<DX, lanes> x[sets];
    elements<DY, lanes> y[sets];
#pragma unroll
    for (int u = 0; u < sets; ++u) {
      const std::int64_t pair = first + u * pairs_per_warp;
      if (pair < job.pairs) load(x[u], y[u], pair, begin);
    }
    let_launch_after_start();
    Sum s[sets][lanes];
#pragma unroll
    for (int u = 0; u < sets; ++u) {
#pragma unroll
      for (int v = 0; v < lanes; ++v) add_term<Terms>()(s[u][v], x[u][v], y[u][v]);
    }
#pragma unroll 1
    for (unsigned d = threads / 2; d > 0; d /= 2) {
#pragma unroll
      for (int u = 0; u < sets; ++u) {
#pragma unroll
        for (int v = 0; v < lanes; ++v) s[u][v] = s[u][v] + from_thread_xor(s[u][v], d);
      }
    }
#pragma unroll
    for (int u = 0; u < sets; ++u) {
      const Sum sum = fold_within_thread(s[u]);
      const std::int64_t pair = first + u * pairs_per_warp;
      if (thread % threads == 0 && pair < job.pairs) deliver_sum<Terms>(job, pair, sum);
    }
  } else {  // all lanes exist, and the sets are rows of one pair
    const std::int64_t pair = first_warp * pairs_per_warp + thread / threads;
    Sum s[lanes];
#pragma unroll 1
    for (int i = 0; i < n; i += sets * static_cast<int>(order::lanes)) {
      elements<DX, lanes> x[sets];
      elements<DY, lanes> y[sets];
#pragma unroll
      for (int u = 0; u < sets; ++u) {
        if (pair < job.pairs) {
          load(x[u], y[u], pair, begin + i + u * static_cast<int>(order::lanes));
        }
      }
#pragma unroll
      for (int u = 0; u < sets; ++u) {
#pragma unroll
        for (int v = 0; v < lanes; ++v) add_term<Terms>()(s[v], x[u][v], y[u][v]);
      }
    }
    let_launch_after_start();
    // As `fold`, but without the warp's other chunks.
#pragma unroll 1
    for (unsigned d = threads / 2; d > 0; d /= 2) {
#pragma unroll
      for (int v = 0; v < lanes; ++v) s[v] = s[v] + from_thread_xor(s[v], d);
    }
    const Sum sum = fold_within_thread(s);
    if (thread % threads == 0 && pair < job.pairs) deliver_sum<Terms>(job, pair, sum);
  }
}

/// Folds the lanes of each of `pairs` pairs, a power of two, over `threads` adjacent threads, which
/// have `lanes` each. While threads have several pairs, and then several lanes, each half of them
/// takes over half: pair p's sum ends up in thread p * threads / pairs.
template <int threads, int pairs, int lanes, class Sum>
__device__ Sum fold_pairs(Sum (&s)[pairs][lanes], int thread) {
  int kept = pairs, lanes_kept = lanes;
#pragma unroll
  for (int d = threads / 2; d > 0; d /= 2) {  // lanes 32, 16, ... `lanes` apart
    const bool upper = thread & d;
    const auto halve = [&](Sum& lower_half, const Sum& upper_half) {
      const Sum keep = upper ? upper_half : lower_half;
      const Sum send = upper ? lower_half : upper_half;
      lower_half = keep + from_thread_xor(send, d);
    };
    if (kept > 1) {
      kept /= 2;
#pragma unroll
      for (int p = 0; p < pairs / 2; ++p) {
        if (p >= kept) break;
#pragma unroll
        for (int v = 0; v < lanes; ++v) halve(s[p][v], s[p + kept][v]);
      }
    } else if (lanes_kept > 1) {
      lanes_kept /= 2;
#pragma unroll
      for (int v = 0; v < lanes / 2; ++v) {
        if (v < lanes_kept) halve(s[0][v], s[0][v + lanes_kept]);
      }
    } else {
      s[0][0] = s[0][0] + from_thread_xor(s[0][0], d);
    }
  }
#pragma unroll
  // Then lanes / 2, ... 1 apart.
  for (int apart = lanes / 2, d = threads / pairs / 2; apart > 0; apart /= 2, d /= 2) {
#pragma unroll
    for (int v = 0; v < lanes; ++v) {
      if (v >= apart || v >= lanes_kept) break;
      s[0][v] = s[0][v] + (apart < lanes_kept ? s[0][v + apart] : from_thread_xor(s[0][v], d));
    }
  }
  return s[0][0];
}

/// Contiguous pairs of half a row to `rows` rows of lanes. A thread has every `threads`-th lane:
/// 16-byte loads leave threads idle (tuning/multi_dot.md: one_by_one).
template <class Terms, int pairs, int rows>
__global__ void __launch_bounds__(max_warps* warp)
    rows_kernel(const __grid_constant__ multi_dot_job job) {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  constexpr int lanes = Terms::lanes, threads = static_cast<int>(order::lanes) / lanes;
  constexpr int pairs_per_warp = static_cast<int>(warp) / threads;
  wait_for_launch_before();
  const int thread = threadIdx.x % threads, n = static_cast<int>(job.first.n);
  const std::int64_t this_warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp;
  const std::int64_t first =
      this_warp * (pairs * pairs_per_warp) + static_cast<int>(threadIdx.x % warp) / threads;
  elements<DX, 1> x[pairs][rows * lanes];
  elements<DY, 1> y[pairs][rows * lanes];
#pragma unroll
  for (int p = 0; p < pairs; ++p) {
    const std::int64_t pair = first + p * pairs_per_warp;
    const pair_offsets offsets = offsets_of(job, pair);
    const auto* const px =
        reinterpret_cast<const DX*>(static_cast<const char*>(job.first.x) + offsets.x);
    const auto* const py =
        reinterpret_cast<const DY*>(static_cast<const char*>(job.first.y) + offsets.y);
#pragma unroll
    for (int v = 0; v < rows * lanes; ++v) {
      const int i = thread + v * threads;
      if (pair < job.pairs && i < n) x[p][v].load(px + i), y[p][v].load(py + i);
    }
  }
  let_launch_after_start();
  Sum of_pair[pairs][1];
#pragma unroll
  for (int p = 0; p < pairs; ++p) {
    Sum s[lanes];
#pragma unroll
    for (int v = 0; v < rows * lanes; ++v) Terms::add(s[v % lanes], x[p][v][0], y[p][v][0]);
    of_pair[p][0] = fold_within_thread(s);
  }
  const Sum sum = fold_pairs<threads>(of_pair, thread);
  constexpr int threads_per_pair = threads / pairs;
  const std::int64_t pair = first + thread / threads_per_pair * pairs_per_warp;
  if (thread % threads_per_pair == 0 && pair < job.pairs) deliver_sum<Terms>(job, pair, sum);
}

/// Several contiguous, aligned pairs whose y is common or absent. A thread has `rows` rows of lanes
/// of each of `pairs` pairs in flight: y's are loaded once for them, and their folds share
/// additions.
template <class Terms, int pairs, int rows>
struct pairs_together {
  using DX = device_x<Terms>;
  using DY = device_y<Terms>;
  using Sum = typename Terms::sum;
  static constexpr int lanes = Terms::lanes, row = static_cast<int>(order::lanes);
  static constexpr int threads = row / lanes;
  static constexpr int threads_per_pair = threads / pairs;  ///< with the same sum

  const DX* x[pairs];
  Sum s[pairs][lanes];

  /// Begins with term `start` of every `step`-th pair from `first` on. The caller drops sums beyond
  /// the last pair.
  __device__ pairs_together(const multi_dot_job& job, std::int64_t first, int step,
                            std::int64_t start) {
#pragma unroll
    for (int p = 0; p < pairs; ++p) {
      const std::int64_t pair = first + p * step;
      const pair_offsets offsets = offsets_of(job, pair < job.pairs ? pair : job.pairs - 1);
      x[p] = reinterpret_cast<const DX*>(static_cast<const char*>(job.first.x) + offsets.x) + start;
    }
  }

  /// Adds the first `left` terms of a chunk and folds them: pair p's sum is in thread p *
  /// threads_per_pair.
  __device__ Sum add(const DY* y, int thread, int left) {
    int i = 0;
#pragma unroll 1
    for (; i + rows * row <= left; i += rows * row) add_rows<true>(y, i + thread * lanes, left);
    if (i < left) add_rows<false>(y, i + thread * lanes, left);
    let_launch_after_start();
    return fold_pairs<threads>(s, thread);
  }

 private:
  template <bool whole>
  __device__ void add_rows(const DY* y, int begin, int left) {
    elements<DX, lanes> xs[pairs][rows];
    elements<DY, lanes> ys[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = begin + r * row;
      if (whole || i + lanes <= left) {
        if constexpr (has_two<Terms>) load_y<Terms>(ys[r], y + i);
#pragma unroll
        for (int p = 0; p < pairs; ++p) xs[p][r].load(x[p] + i);
      } else if (i < left) {
        if constexpr (has_two<Terms>) ys[r].load(y + i, left - i);
#pragma unroll
        for (int p = 0; p < pairs; ++p) xs[p][r].load(x[p] + i, left - i);
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int p = 0; p < pairs; ++p) {
#pragma unroll
        for (int v = 0; v < lanes; ++v) add_term<Terms>()(s[p][v], xs[p][r][v], ys[r][v]);
      }
    }
  }
};

/// Pairs of more than half a row to a chunk.
template <class Terms, int pairs>
__global__ void __launch_bounds__(max_warps* warp, 4)
    together_kernel(const __grid_constant__ multi_dot_job job) {
  using together = pairs_together<Terms, pairs, 1>;
  constexpr int threads = together::threads, step = static_cast<int>(warp) / threads;
  wait_for_launch_before();
  const int thread = threadIdx.x % threads;
  const std::int64_t this_warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp;
  const std::int64_t first =
      this_warp * (pairs * step) + static_cast<int>(threadIdx.x % warp) / threads;
  together all(job, first, step, 0);
  const auto* const y = static_cast<const device_y<Terms>*>(job.first.y);
  const auto sum = all.add(y, thread, static_cast<int>(job.first.n));
  const std::int64_t pair = first + thread / together::threads_per_pair * step;
  if (thread % together::threads_per_pair == 0 && pair < job.pairs) {
    deliver_sum<Terms>(job, pair, sum);
  }
}

/// Pairs of 2 to max_warps nodes: `warps_per_pair` warps have a node each, of `pairs` pairs.
template <class Terms, int pairs>
__global__ void __launch_bounds__(max_warps* warp, 3)
    grouped_together_kernel(const __grid_constant__ multi_dot_job job) {
  using together = pairs_together<Terms, pairs, 4>;
  using Sum = typename Terms::sum;
  constexpr int threads = together::threads, lanes = Terms::lanes;
  static_assert(pairs * max_warps <= warp);
  __shared__ uninitialised<Sum, max_warps> sums[pairs];
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp, warps = job.warps_per_pair;
  const unsigned group = w / warps, node = w % warps;
  wait_for_launch_before();
  const std::int64_t first =
      (std::int64_t{blockIdx.x} * (blockDim.x / warp / warps) + group) * pairs;
  const std::int64_t start =
      (std::int64_t{node} * chunks_per_warp(lanes) + thread / threads) * chunk;
  together all(job, first, 1, start);
  const auto* const y =
      static_cast<const device_y<Terms>*>(job.first.y) + (has_two<Terms> ? start : 0);
  Sum s = all.add(y, thread % threads, within_chunk(job.first.n - start));
#pragma unroll
  for (int d = threads; d < static_cast<int>(warp); d *= 2) s = s + from_thread_xor(s, d);
  if (thread < threads && thread % together::threads_per_pair == 0) {
    sums[thread / together::threads_per_pair][w] = s;
  }
  __syncthreads();
  if (node != 0) return;
  const unsigned p = thread / max_warps, other = thread % max_warps;
  s = p < pairs && other < warps ? sums[p][w + other] : Sum();
  s = add_across_threads<max_warps>(s, max_warps);
  if (other == 0 && p < pairs && first + p < job.pairs) deliver_sum<Terms>(job, first + p, s);
}

template <class T>
constexpr multi_dot_kernels made_multi_dot_kernels() {
  using terms = products<dot_result_t<T, T>, T, T>;
  // Rows of x in flight (tuning/multi_dot.md: in_flight).
  constexpr int in_flight = terms::lanes * element_bytes<terms> <= 32 ? 8 : 4;
  // Rows of short pairs in flight (tuning/multi_dot.md: sets).
  constexpr int sets = 4;
  // Whether rows_kernel is used (tuning/multi_dot.md: one_by_one).
  constexpr bool one_by_one = std::is_same_v<T, double>;
  return {&against_one_kernel<terms, in_flight>,
          &pairs_kernel<contiguous_part<terms>>,
          &short_pairs_kernel<terms, true, sets>,
          &short_pairs_kernel<terms, false, sets>,
          one_by_one ? &rows_kernel<terms, sets, 1> : nullptr,
          one_by_one ? &rows_kernel<terms, sets / 2, 2> : nullptr,
          terms::lanes,
          sets};
}

}  // namespace tally::backends::cuda
