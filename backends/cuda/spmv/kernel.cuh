// spmv on a GPU, one launch for each call: a row in a few threads, where a plan found none to be
// long, else a block for each piece or tile of the matrix (spmv_shape.hpp).
//
// Promise: the bits of the row order. A block computes its terms, adjacent threads adjacent ones,
// into shared memory, where rows are summed: short ones in 1, 2, 4 or 8 threads, which own lanes of
// the order that lie so many apart, longer ones by a warp. Lanes start at +0, so none can hold -0,
// and a lane without terms may be added or not. Compiled with -fmad=false: a product is rounded
// before it is added.
//
// The blocks that have shares of a split row hand their sums to the one that has the last share,
// through words that it polls (words.hpp). That can't deadlock: it waits for blocks of lower
// numbers, which start before it, and of which the lowest waits for nobody.
#pragma once

#include "backends/cuda/device/sum_kernel.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/result.cuh"
#include "backends/cuda/spmv/shape.hpp"
#include "src/core/order/row_order.hpp"

#include <type_traits>

namespace tally::backends::cuda {

// --- Terms ---------------------------------------------------------------------------------------

/// Terms in shared memory: the numbers of a sum each in a plane of its own.
template <class A, int capacity>
class term_planes {
  using R = real_t<A>;
  static constexpr int planes = is_complex_v<A> ? 4 : 1;

 public:
  static constexpr std::size_t bytes = sizeof(R) * planes * capacity;

  __device__ explicit term_planes(void* memory) : terms_(static_cast<R*>(memory)) {}

  __device__ dot_sum<A> operator[](int i) const {
    if constexpr (is_complex_v<A>) {
      return {terms_[i], terms_[capacity + i], terms_[2 * capacity + i], terms_[3 * capacity + i]};
    } else {
      return {terms_[i]};
    }
  }
  __device__ void put(int i, const dot_sum<A>& term) const {
    if constexpr (is_complex_v<A>) {
      terms_[i] = term.rr;
      terms_[capacity + i] = term.ii;
      terms_[2 * capacity + i] = term.ri;
      terms_[3 * capacity + i] = term.ir;
    } else {
      terms_[i] = term.value;
    }
  }

 private:
  R* terms_;
};

/// value * x.
template <class A, class V, class X>
__device__ dot_sum<A> term_of(on_device_t<V> value, on_device_t<X> x) {
  using R = real_t<A>;
  if constexpr (!is_complex_v<A>) {
    return {convert<R>(value) * convert<R>(x)};
  } else if constexpr (!is_complex_v<V>) {
    const R v = convert<R>(value);
    return {v * convert<R>(x.re), R{}, v * convert<R>(x.im), R{}};
  } else if constexpr (!is_complex_v<X>) {
    const R re = convert<R>(x);
    return {convert<R>(value.re) * re, R{}, R{}, convert<R>(value.im) * re};
  } else {
    const R vr = convert<R>(value.re), vi = convert<R>(value.im);
    const R xr = convert<R>(x.re), xi = convert<R>(x.im);
    return {vr * xr, vi * xi, vr * xi, vi * xr};
  }
}

/// Loads `to` where `wanted`; it keeps its value elsewhere. The compiler leaves such loads side by
/// side, where from plain code it made branches, which wait for each load: the 27-point stencil
/// took 235 us in 4 threads a row instead of 187 (one H200).
template <class T>
__device__ void load_if(bool wanted, const T* from, T& to) {
  if constexpr (sizeof(T) == 2) {
    auto bits = __builtin_bit_cast(std::uint16_t, to);
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b16 %0, [%1];}"
                 : "+h"(bits)
                 : "l"(from), "r"(static_cast<unsigned>(wanted)));
    to = __builtin_bit_cast(T, bits);
  } else if constexpr (sizeof(T) == 4) {
    auto bits = __builtin_bit_cast(std::uint32_t, to);
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b32 %0, [%1];}"
                 : "+r"(bits)
                 : "l"(from), "r"(static_cast<unsigned>(wanted)));
    to = __builtin_bit_cast(T, bits);
  } else if constexpr (std::is_arithmetic_v<T>) {
    auto bits = __builtin_bit_cast(std::uint64_t, to);
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b64 %0, [%1];}"
                 : "+l"(bits)
                 : "l"(from), "r"(static_cast<unsigned>(wanted)));
    to = __builtin_bit_cast(T, bits);
  } else {  // complex: aligned as its parts are
    load_if(wanted, &from->re, to.re);
    load_if(wanted, &from->im, to.im);
  }
}

/// Where a thread's nonzeros are. Loops move it on: from an index the compiler made an address for
/// each load, too many for the registers (stage in spmv_pieces kept 56 bytes in memory).
template <class V, class Column>
struct nonzero_place {
  const Column* columns;
  const on_device_t<V>* values;

  __device__ nonzero_place(const spmv_job& job, std::int64_t at)
      : columns(static_cast<const Column*>(job.columns.data) + at),
        values(static_cast<const on_device_t<V>*>(job.values.data) + at) {}
  __device__ void move(int by) {
    columns += by;
    values += by;
  }
};

/// Terms of a row or a block: `in_flight` nonzeros, each `apart` from the one before, as far as
/// they are among the next `left`; +0 after those. All loads of a kind go out before the first is
/// waited for.
template <class A, class V, class X, int apart, class Column, int in_flight>
__device__ void load_terms(const spmv_job& job, const nonzero_place<V, Column>& from, int left,
                           dot_sum<A> (&terms)[in_flight]) {
  using DX = on_device_t<X>;
  const auto* const x = static_cast<const real_t<X>*>(job.x.data);
  Column column[in_flight] = {};
  on_device_t<V> value[in_flight] = {};
  DX element[in_flight] = {};
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    load_if(k * apart < left, from.columns + k * apart, column[k]);
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) load_if(k * apart < left, from.values + k * apart, value[k]);
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    const auto* const at = reinterpret_cast<const DX*>(x + column[k] * job.x.increment);
    load_if(k * apart < left, at, element[k]);
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) terms[k] = term_of<A, V, X>(value[k], element[k]);
}

/// The terms of `count` nonzeros from `first` on, by a block of so many threads.
template <class A, class V, class X, class Column, int threads, int capacity>
__device__ void stage(const spmv_job& job, const term_planes<A, capacity>& terms,
                      std::int64_t first, int count) {
  constexpr int in_flight = 4;
  nonzero_place<V, Column> from(job, first + threadIdx.x);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * threads) {
    dot_sum<A> loaded[in_flight];
    load_terms<A, V, X, threads>(job, from, count - i, loaded);
    from.move(in_flight * threads);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) terms.put(i + k * threads, loaded[k]);
    }
  }
}

template <class A, class V, class X, int threads, int capacity>
__device__ void stage(const spmv_job& job, const term_planes<A, capacity>& terms,
                      std::int64_t first, int count) {
  if (job.columns.wide) {
    stage<A, V, X, std::int64_t, threads>(job, terms, first, count);
  } else {
    stage<A, V, X, std::int32_t, threads>(job, terms, first, count);
  }
}

// --- Rows of a block -----------------------------------------------------------------------------

constexpr int short_row = static_cast<int>(row_order::short_row);
constexpr int row_lanes = static_cast<int>(row_order::lanes);

/// A block's terms and rows, in shared memory.
template <class A, int capacity>
struct staged_rows {
  term_planes<A, capacity> terms;
  const int* starts;  ///< of rows, among the terms; one more than there are rows
  int rows;
};

/// Sums the short rows in a block, each in `threads` threads, of which one gives its sum.
template <int block, int threads, class A, int capacity, class Give>
__device__ void sum_short_rows(const staged_rows<A, capacity>& staged, const Give& give) {
  using Sum = dot_sum<A>;
  constexpr int own = row_lanes / threads;  // lanes of a thread
  // Terms of a lane: the fewer lanes, the longer rows may be. In 4 threads 4, in 2 threads 2
  // instead of 1 took soc-Slashdot0902 with a plan from 8.2 to 7.9 us.
  constexpr int at_once = threads < 4 ? threads : 4;
  constexpr int in_block = block / threads;
  const int lane = static_cast<int>(threadIdx.x) % threads;
  for (int first = 0; first < staged.rows; first += in_block) {
    const int row = first + static_cast<int>(threadIdx.x) / threads;
    const int starts_at = row < staged.rows ? staged.starts[row] : 0;
    const int end = row < staged.rows ? staged.starts[row + 1] : 0;
    const bool is_short = end - starts_at <= short_row;
    Sum s[own];
    if (is_short) {
      int i = starts_at + lane;
      for (; i + (at_once * own - 1) * threads < end; i += at_once * row_lanes) {
        Sum next[at_once * own];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) next[v] = staged.terms[i + v * threads];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) s[v % own] = s[v % own] + next[v];
      }
#pragma unroll
      for (int v = 0; v < at_once * own - 1; ++v) {
        if (i + v * threads < end) s[v % own] = s[v % own] + staged.terms[i + v * threads];
      }
    }
#pragma unroll
    for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
      for (int v = 0; v < half; ++v) s[v] = s[v] + s[v + half];
    }
#pragma unroll
    for (int d = threads / 2; d > 0; d /= 2) s[0] = s[0] + from_lane_xor(s[0], d);
    if (is_short && lane == 0 && row < staged.rows) give(row, s[0]);
  }
}

/// A warp's sum of a chunk.
template <class A, int capacity>
__device__ dot_sum<A> sum_chunk(const term_planes<A, capacity>& terms, int first, int count) {
  constexpr int at_once = 8;
  const int lane = static_cast<int>(threadIdx.x % warp);
  dot_sum<A> low, high;
  for (int i = lane; i < count; i += 2 * at_once * static_cast<int>(warp)) {
    dot_sum<A> next[2 * at_once];
#pragma unroll
    for (int k = 0; k < 2 * at_once; ++k) {
      if (i + k * static_cast<int>(warp) < count) {
        next[k] = terms[first + i + k * static_cast<int>(warp)];
      }
    }
#pragma unroll
    for (int k = 0; k < 2 * at_once; k += 2) {
      low = low + next[k];
      high = high + next[k + 1];
    }
  }
  low = low + high;
#pragma unroll
  for (int d = warp / 2; d > 0; d /= 2) low = low + from_lane_xor(low, d);
  return low;
}

/// In as many threads each as there are for all at once; `uneven` ones in 8.
template <int block, class A, int capacity, class Give>
__device__ void sum_short_rows(const staged_rows<A, capacity>& staged, bool uneven,
                               const Give& give) {
  if (uneven || staged.rows * 8 <= block) return sum_short_rows<block, 8>(staged, give);
  if (staged.rows * 4 <= block) return sum_short_rows<block, 4>(staged, give);
  if (staged.rows * 2 <= block) return sum_short_rows<block, 2>(staged, give);
  sum_short_rows<block, 1>(staged, give);
}

// --- Split rows ----------------------------------------------------------------------------------

/// The order's tree, built in a warp while its leaves arrive, as many as each has below it: lane j
/// holds a sum of 2^j leaves where bit j of their number is set.
template <class Sum>
class warp_tree {
 public:
  __device__ void add(Sum leaf, int lane) {
    int j = 0;
    for (; leaves_ >> j & 1; ++j) leaf = from_lane(held_, j) + leaf;
    if (lane == j) held_ = leaf;
    ++leaves_;
  }
  __device__ Sum total() const {
    Sum sum;
    bool first = true;
    for (int j = 0; leaves_ >> j != 0; ++j) {
      if ((leaves_ >> j & 1) == 0) continue;
      const Sum s = from_lane(held_, j);
      sum = first ? s : s + sum;
      first = false;
    }
    return sum;
  }

 private:
  Sum held_;
  unsigned leaves_ = 0;
};

/// A sum on its way to another block, in a pair of words at least.
template <class Sum>
struct alignas(8) handed_sum {
  Sum sum;
};

/// Hands a sum over under the launch's tag, so that one which an earlier launch left there, where
/// nobody took it, is never taken for this one.
template <class Sum>
__device__ void hand_over(const spmv_job& job, std::int64_t slot, const Sum& sum) {
  constexpr int a_sum = words_of<handed_sum<Sum>>;
  const handed_sum<Sum> handed{sum};
  std::uint32_t payload[a_sum];
  memcpy(payload, &handed, sizeof handed);
#pragma unroll
  for (int k = 0; k < a_sum; k += 2) {
    store_words(job.words + slot * a_sum + k, make_word(payload[k], job.tag),
                make_word(payload[k + 1], job.tag));
  }
}

/// Adds up `count` sums, of which the last is `own`, a warp's, and the others are handed over in
/// slots from `first_slot` on. While they don't all come it asks, now and then, whether to give up;
/// then the result means nothing.
template <class Sum, class GiveUp>
__device__ Sum gather_shares(const spmv_job& job, std::int64_t first_slot, std::int64_t count,
                             const Sum& own, int lane, const GiveUp& gives_up) {
  constexpr int a_sum = words_of<handed_sum<Sum>>;
  constexpr unsigned patience = 1u << 14;  // A look takes less than a microsecond.
  warp_tree<Sum> tree;
  for (std::int64_t first = 0; first < count; first += warp) {
    const std::int64_t i = first + lane;
    const bool takes = i < count - 1;
    std::uint64_t* const from = job.words + (first_slot + (takes ? i : 0)) * a_sum;
    std::uint64_t word[a_sum], others = 0;
    for (unsigned looks = 1;; ++looks) {
#pragma unroll
      for (int k = 0; k < a_sum; k += 2) load_words(from + k, word[k], word[k + 1]);
      others = 0;
#pragma unroll
      for (int k = 0; k < a_sum; ++k) others |= word[k] ^ make_word(0, job.tag);
      if (!__any_sync(whole_warp, takes && tag_of(others) != 0)) break;
      if (looks % patience == 0 && gives_up()) return own;
    }
    if (takes) {
#pragma unroll
      for (int k = 0; k < a_sum; k += 2) store_words(from + k, 0, 0);
    }
    std::uint32_t payload[a_sum];
#pragma unroll
    for (int k = 0; k < a_sum; ++k) payload[k] = takes ? static_cast<std::uint32_t>(word[k]) : 0;
    Sum s;
    memcpy(&s, payload, sizeof s);
    if (i == count - 1) s = own;
    tree.add(add_lanes<warp>(s, warp), lane);
  }
  return tree.total();
}

/// A block's share of a row of more than `split_row` terms.
struct split_share {
  std::int64_t row = 0;
  std::int64_t first = 0;       ///< nonzero
  std::int64_t count = 0;       ///< of nonzeros; 0: the block has none
  std::int64_t index = 0;       ///< of all the row's shares
  std::int64_t shares = 0;      ///< of the row
  std::int64_t first_slot = 0;  ///< where their sums are handed over

  __device__ bool is_last() const { return index == shares - 1; }
};

__device__ inline split_share share_of_block(const spmv_job& job, std::int64_t row,
                                             std::int64_t start, std::int64_t length) {
  const std::int64_t first_tile = (row + start) / tile_size;
  const std::int64_t ahead = blockIdx.x - first_tile;
  const std::int64_t terms = std::int64_t{tile_size} << job.share_shift;
  split_share s;
  if (ahead < 0) return s;  // Offsets are wrong.
  s.row = row;
  s.index = ahead >> job.share_shift;
  s.first = start + s.index * terms;
  s.shares = (length + terms - 1) / terms;
  s.first_slot = first_tile >> job.share_shift;
  const std::int64_t left = length - s.index * terms;
  if (s.index << job.share_shift == ahead && left > 0) s.count = left < terms ? left : terms;
  return s;
}

/// Its sum, in the first warp; handed over to the last block that has one, or written if there is
/// no other.
template <class A, class V, class X>
__device__ dot_sum<A> sum_share(const spmv_job& job, const term_planes<A, most_terms>& terms,
                                const split_share& share) {
  using Sum = dot_sum<A>;
  const int lane = threadIdx.x % warp;
  const bool sums = threadIdx.x < warp;
  warp_tree<Sum> tree;
  for (std::int64_t done = 0; done < share.count; done += chunk) {
    const int some = within_chunk(share.count - done);
    stage<A, V, X, tile_threads>(job, terms, share.first + done, some);
    __syncthreads();
    if (sums) tree.add(sum_chunk(terms, 0, some), lane);
    __syncthreads();
  }
  if (!sums) return {};
  const Sum sum = tree.total();
  if (!share.is_last()) {
    if (lane == 0) hand_over(job, share.first_slot + share.index, sum);
  } else if (share.shares == 1 && lane == 0) {
    write_row<A>(job, share.row, finish_parts(sum, conjugate::none));
  }
  return sum;
}

// --- Tiles ---------------------------------------------------------------------------------------

struct tile_start {
  std::int64_t row;      ///< the first row that starts in the tile, or after it
  std::int64_t nonzero;  ///< where that row starts
  std::int64_t whole;    ///< where the row before it starts if that one is split, else `nonzero`
};

/// Says whether the row offsets are those of a matrix. A whole warp asks.
__device__ __noinline__ inline bool ascends(const spmv_job& job) {
  bool right =
      job.offsets[0] == 0 && job.offsets[static_cast<std::size_t>(job.rows)] == job.nonzeros;
  for (std::int64_t row = threadIdx.x % warp; row < job.rows; row += warp) {
    right &= job.offsets[static_cast<std::size_t>(row)] <=
             job.offsets[static_cast<std::size_t>(row) + 1];
  }
  return __all_sync(whole_warp, right);
}

/// Where tile `tile` starts, found by a warp: the first row at or after that place of the line.
/// Most matrices' rows are about where they would lie if all were equal: a first look around there
/// brackets the row, in most cases narrowly.
__device__ inline tile_start find_start(const spmv_job& job, std::int64_t tile) {
  const int lane = threadIdx.x % warp;
  const auto offset = [&](std::int64_t row) { return job.offsets[static_cast<std::size_t>(row)]; };
  const std::int64_t end = job.rows + job.nonzeros;
  const std::int64_t place = tile * tile_size < end ? tile * tile_size : end;
  std::int64_t low = 0, high = job.rows;       // the row is in [low, high]
  const auto look = [&](std::int64_t probe) {  // rising with the lane
    probe = probe < low ? low : probe > high ? high : probe;
    const unsigned behind = __ballot_sync(whole_warp, offset(probe) + probe >= place);
    const int first = behind == 0 ? static_cast<int>(warp) : __ffs(static_cast<int>(behind)) - 1;
    const std::int64_t at = __shfl_sync(whole_warp, probe, first % static_cast<int>(warp));
    const std::int64_t before = __shfl_sync(whole_warp, probe, first == 0 ? 0 : first - 1);
    if (behind != 0) high = at;
    if (first > 0) low = before + 1;
  };
  const auto guess = static_cast<std::int64_t>(
      static_cast<double>(place) * static_cast<double>(job.rows) / static_cast<double>(end));
  look(lane < 16 ? guess - (std::int64_t{1} << (15 - lane)) + 1
                 : guess + (std::int64_t{1} << (lane - 16)));
  while (low < high) {
    const std::int64_t step = (high - low + warp - 1) / warp;
    look(low + lane * step);
  }
  low = low < job.rows ? low : job.rows;  // It is beyond where the last offset is too small.
  tile_start found{low, job.offset(low), 0};
  const std::int64_t before = low > 0 ? job.offset(low - 1) : found.nonzero;
  found.whole = found.nonzero - before > split_row ? before : found.nonzero;
  return found;
}

template <class A, class V, class X>
__global__ void __launch_bounds__(tile_threads, tile_blocks<A>)
    spmv_tiles(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ int starts[tile_size + 1];
  constexpr int most_long_rows = most_terms / (short_row + 1) + 1;
  __shared__ int long_rows[most_long_rows];
  __shared__ int long_count;
  __shared__ tile_start found[2];
  const term_planes<A, most_terms> terms(memory);
  wait_for_launch_before();
  if (threadIdx.x < 2 * warp) {
    const unsigned which = threadIdx.x / warp;
    const tile_start start = find_start(job, blockIdx.x + which);
    if (threadIdx.x % warp == 0) found[which] = start;
  }
  __syncthreads();
  const tile_start tile = found[0], next = found[1];
  const bool splits_last = next.row > tile.row && next.whole < next.nonzero;
  const auto within = [](std::int64_t n, int most) {
    return n < 0 ? 0 : n < most ? static_cast<int>(n) : most;
  };
  const int count = next.row > tile.row ? within(next.whole - tile.nonzero, most_terms) : 0;
  const int rows = within(next.row - tile.row - splits_last, tile_size);

  // Shares come first, so that they are all there when the last one's block wants them.
  split_share share;
  dot_sum<A> sum_of_share;
  if (tile.whole < tile.nonzero) {
    share = share_of_block(job, tile.row - 1, tile.whole, tile.nonzero - tile.whole);
    if (share.count > 0) sum_of_share = sum_share<A, V, X>(job, terms, share);
  }
  if (splits_last) {
    const split_share begun =
        share_of_block(job, next.row - 1, next.whole, next.nonzero - next.whole);
    if (begun.count > 0) sum_share<A, V, X>(job, terms, begun);
  }

  if (threadIdx.x == 0) long_count = 0;
  for (int i = static_cast<int>(threadIdx.x); i <= rows; i += static_cast<int>(tile_threads)) {
    const std::int64_t start =
        i == rows ? count : job.offsets[static_cast<std::size_t>(tile.row + i)] - tile.nonzero;
    starts[i] = static_cast<std::uint64_t>(start) < static_cast<unsigned>(count)
                    ? static_cast<int>(start)
                    : count;
  }
  stage<A, V, X, tile_threads>(job, terms, tile.nonzero, count);
  __syncthreads();
  bool uneven = false;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(tile_threads)) {
    const int length = starts[i + 1] - starts[i];
    uneven |= length > uneven_row;
    if (length > short_row) {
      const int k = atomicAdd(&long_count, 1);
      if (k < most_long_rows) long_rows[k] = i;
    }
  }
  uneven = __syncthreads_or(uneven);
  // A row's sum takes the place of its first term.
  sum_short_rows<tile_threads>(staged_rows<A, most_terms>{terms, starts, rows}, uneven,
                               [&](int row, const dot_sum<A>& sum) {
                                 if (starts[row] < starts[row + 1]) terms.put(starts[row], sum);
                               });
  const int in_warps = min(long_count, most_long_rows);
  for (int i = static_cast<int>(threadIdx.x / warp); i < in_warps; i += tile_threads / warp) {
    const int row = long_rows[i];
    const dot_sum<A> sum = sum_chunk(terms, starts[row], starts[row + 1] - starts[row]);
    if (threadIdx.x % warp == 0) terms.put(starts[row], sum);
  }
  let_launch_after_start();
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(tile_threads)) {
    const dot_sum<A> sum = starts[i] < starts[i + 1] ? terms[starts[i]] : dot_sum<A>();
    write_row<A>(job, tile.row + i, finish_parts(sum, conjugate::none));
  }

  if (threadIdx.x < warp && share.count > 0 && share.is_last() && share.shares > 1) {
    const dot_sum<A> sum =
        gather_shares(job, share.first_slot, share.shares, sum_of_share,
                      static_cast<int>(threadIdx.x), [&] { return !ascends(job); });
    if (threadIdx.x == 0) write_row<A>(job, share.row, finish_parts(sum, conjugate::none));
  }
  // The type is atomicAdd's name for std::uint64_t.
  if (threadIdx.x == 0 && job.ended != nullptr) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
  }
}

// --- Pieces --------------------------------------------------------------------------------------

/// A thread's row offsets of a run, but for what is above 32 bits. Nothing here waits for them.
template <class Offset, int rows_a_thread>
__device__ void load_offsets(const spmv_job& job, const spmv_piece& piece,
                             std::uint32_t (&low)[rows_a_thread]) {
  const int first = static_cast<int>(threadIdx.x);
  const auto* const from = static_cast<const Offset*>(job.offsets.data) + piece.row + first;
  Offset offset[rows_a_thread] = {};
#pragma unroll
  for (int k = 0; k < rows_a_thread; ++k) {
    constexpr int apart = piece_threads;
    load_if(first + k * apart < piece.rows, from + k * apart, offset[k]);
    low[k] = static_cast<std::uint32_t>(offset[k]);
  }
}

template <class A, class V, class X>
__global__ void __launch_bounds__(piece_threads, piece_blocks<A>)
    spmv_pieces(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ int starts[run_size + 1];
  const term_planes<A, piece_terms> terms(memory);
  // A plan's pieces and row offsets stay as they are: they need not wait.
  const spmv_piece piece = job.pieces[blockIdx.x];
  constexpr int rows_a_thread = (run_size + piece_threads - 1) / piece_threads;
  std::uint32_t offsets[rows_a_thread];
  if (job.offsets.wide) {
    load_offsets<std::int64_t>(job, piece, offsets);
  } else {
    load_offsets<std::int32_t>(job, piece, offsets);
  }
  wait_for_launch_before();

  const int lane = threadIdx.x % warp;
  warp_tree<dot_sum<A>> tree;
  for (int done = 0;; done += chunk) {
    const int some = piece.terms - done < chunk ? piece.terms - done : chunk;
    stage<A, V, X, piece_threads>(job, terms, piece.nonzero + done, some);
    if (piece.rows > 0) break;
    __syncthreads();
    if (threadIdx.x < warp) tree.add(sum_chunk(terms, 0, some), lane);
    if (done + chunk >= piece.terms) break;
    __syncthreads();
  }
  if (piece.rows > 0) {
#pragma unroll
    for (int k = 0; k < rows_a_thread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * piece_threads;
      if (i >= piece.rows) continue;
      starts[i] = static_cast<int>(offsets[k] - static_cast<std::uint32_t>(piece.nonzero));
    }
    if (threadIdx.x == 0) starts[piece.rows] = piece.terms;
    __syncthreads();
    let_launch_after_start();
    return sum_short_rows<piece_threads>(staged_rows<A, piece_terms>{terms, starts, piece.rows},
                                         false, [&](int row, const dot_sum<A>& sum) {
                                           write_row<A>(job, piece.row + row,
                                                        finish_parts(sum, conjugate::none));
                                         });
  }
  let_launch_after_start();
  if (threadIdx.x >= warp) return;
  dot_sum<A> sum = tree.total();
  if (piece.before < 0) {
    if (lane == 0) hand_over(job, piece.slot, sum);
    return;
  }
  if (piece.before > 0) {
    sum = gather_shares(job, piece.slot - piece.before, piece.before + 1, sum, lane,
                        [] { return false; });
    // The type is atomicAdd's name for std::uint64_t.
    if (lane == 0 && job.ended != nullptr) {
      atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
    }
  }
  if (lane == 0) write_row<A>(job, piece.row, finish_parts(sum, conjugate::none));
}

// --- Short rows alone ----------------------------------------------------------------------------

/// The sum of a row of `count` terms, by `threads` threads.
template <class A, class V, class X, class Column, int threads>
__device__ dot_sum<A> sum_row(const spmv_job& job, std::int64_t start, int count) {
  constexpr int own = row_lanes / threads;  // lanes of a thread
  constexpr int in_flight = own < 4 ? 4 : own;
  dot_sum<A> s[own];
  // Rolled, 27-point 128^3 in 4 threads took 193 us, not 188, and bcsstk16 in 8 threads 2.8,
  // not 2.5; unrolled, in more registers, 5-point 2048^2 in 2 threads 106, not 96.
  constexpr int unrolled = threads == 2 ? 1 : 4;
  int i = static_cast<int>(threadIdx.x) % threads;
  nonzero_place<V, Column> from(job, start + i);
#pragma unroll(unrolled)
  for (; i < count; i += in_flight * threads) {
    dot_sum<A> terms[in_flight];
    load_terms<A, V, X, threads>(job, from, count - i, terms);
    from.move(in_flight * threads);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) s[k % own] = s[k % own] + terms[k];
  }
#pragma unroll
  for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
    for (int v = 0; v < half; ++v) s[v] = s[v] + s[v + half];
  }
#pragma unroll
  for (int d = threads / 2; d > 0; d /= 2) s[0] = s[0] + from_lane_xor(s[0], d);
  return s[0];
}

/// For matrices without long rows: each row in `threads` threads.
template <class A, class V, class X, int threads>
__global__ void __launch_bounds__(row_threads) spmv_rows(const __grid_constant__ spmv_job job) {
  const std::int64_t row =
      std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads;
  std::int64_t start = 0;
  int count = 0;
  if (row < job.rows) {  // a plan's row offsets stay as they are: they need not wait
    start = job.offsets[static_cast<std::size_t>(row)];
    count = static_cast<int>(job.offsets[static_cast<std::size_t>(row) + 1] - start);
  }
  wait_for_launch_before();
  dot_sum<A> sum;
  if (job.columns.wide) {
    sum = sum_row<A, V, X, std::int64_t, threads>(job, start, count);
  } else {
    sum = sum_row<A, V, X, std::int32_t, threads>(job, start, count);
  }
  let_launch_after_start();
  if (row < job.rows && threadIdx.x % threads == 0) {
    write_row<A>(job, row, finish_parts(sum, conjugate::none));
  }
}

/// For spmv_kernels.hpp.
template <class A>
const spmv_kernel_table& table_of_spmv_kernels() {
  static constexpr auto table = table_over<spmvs::value_types>([]<class V>() {
    return table_over<spmvs::vector_types>([]<class X>() {
      spmv_choice choice;
      if constexpr (std::is_same_v<dot_result_t<V, X>, A>) {
        choice.tiles = &spmv_tiles<A, V, X>;
        choice.tile_bytes = term_planes<A, most_terms>::bytes;
        choice.pieces = &spmv_pieces<A, V, X>;
        choice.piece_bytes = term_planes<A, piece_terms>::bytes;
        if constexpr (!is_complex_v<A> || std::is_same_v<V, X>) {  // others are too rare
          choice.rows[1] = &spmv_rows<A, V, X, 2>;
          choice.rows[2] = &spmv_rows<A, V, X, 4>;
          choice.rows[3] = &spmv_rows<A, V, X, 8>;
        }
      }
      return choice;
    });
  });
  return table;
}

}  // namespace tally::backends::cuda
