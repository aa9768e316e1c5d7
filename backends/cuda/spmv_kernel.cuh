// spmv on a GPU, one launch for each call: a row in a few threads, where all rows are known to be
// short and about equal, else a block for each tile of the matrix (spmv_shape.hpp).
//
// Promise: the bits of the row order. The block of a tile computes its tile's terms, adjacent
// threads adjacent ones, into shared memory, where rows are summed: short ones in 1, 2, 4 or 8
// threads, which own lanes of the order that lie so many apart, longer ones by a warp. Lanes start
// at +0, so none can hold -0, and a lane without terms may be added or not. Compiled with
// -fmad=false: a product is rounded before it is added.
//
// The blocks that have shares of a split row hand their sums to the one that has the last share,
// through words that it polls (words.hpp). That can't deadlock: it waits for blocks of lower
// numbers, which start before it, and of which the lowest waits for nobody.
#pragma once

#include "backends/cuda/spmv_kernels.hpp"
#include "backends/cuda/spmv_result.cuh"
#include "backends/cuda/spmv_shape.hpp"
#include "backends/cuda/sum_kernel.cuh"
#include "backends/row_order.hpp"

#include <type_traits>

namespace tally::backends::cuda {

// --- Terms ---------------------------------------------------------------------------------------

/// Terms in shared memory: the numbers of a sum each in a plane of its own.
template <class A>
class term_planes {
  using R = real_t<A>;
  static constexpr int planes = is_complex_v<A> ? 4 : 1;

 public:
  static constexpr std::size_t bytes = sizeof(R) * planes * most_terms;

  __device__ explicit term_planes(void* memory) : terms_(static_cast<R*>(memory)) {}

  __device__ dot_sum<A> operator[](int i) const {
    if constexpr (is_complex_v<A>) {
      return {terms_[i], terms_[most_terms + i], terms_[2 * most_terms + i],
              terms_[3 * most_terms + i]};
    } else {
      return {terms_[i]};
    }
  }
  __device__ void put(int i, const dot_sum<A>& term) const {
    if constexpr (is_complex_v<A>) {
      terms_[i] = term.rr;
      terms_[most_terms + i] = term.ii;
      terms_[2 * most_terms + i] = term.ri;
      terms_[3 * most_terms + i] = term.ir;
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

/// Terms of a row or a tile: `in_flight` nonzeros from `first` on, each `apart` from the one
/// before, as far as they are before `end`; +0 after it. All loads of a kind go out before the
/// first is waited for.
template <class A, class V, class X, class Column, int in_flight, int apart>
__device__ void load_terms(const spmv_job& job, std::int64_t first, std::int64_t end,
                           dot_sum<A> (&terms)[in_flight]) {
  using DV = on_device_t<V>;
  using DX = on_device_t<X>;
  const auto* const columns = static_cast<const Column*>(job.columns.data) + first;
  const auto* const values = static_cast<const DV*>(job.values.data) + first;
  const auto* const x = static_cast<const real_t<X>*>(job.x.data);
  const int left =
      end - first < in_flight * apart ? static_cast<int>(end - first) : in_flight * apart;
  Column column[in_flight] = {};
  DV value[in_flight] = {};
  DX element[in_flight] = {};
#pragma unroll
  for (int k = 0; k < in_flight; ++k) load_if(k * apart < left, columns + k * apart, column[k]);
#pragma unroll
  for (int k = 0; k < in_flight; ++k) load_if(k * apart < left, values + k * apart, value[k]);
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    const auto* const at = reinterpret_cast<const DX*>(x + column[k] * job.x.increment);
    load_if(k * apart < left, at, element[k]);
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) terms[k] = term_of<A, V, X>(value[k], element[k]);
}

/// The terms of `count` nonzeros from `first` on, by a block.
template <class A, class V, class X, class Column>
__device__ void stage(const spmv_job& job, const term_planes<A>& terms, std::int64_t first,
                      int count) {
  constexpr int threads = tile_threads;
  constexpr int in_flight = 4;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * threads) {
    dot_sum<A> loaded[in_flight];
    load_terms<A, V, X, Column, in_flight, threads>(job, first + i, first + count, loaded);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) terms.put(i + k * threads, loaded[k]);
    }
  }
}

template <class A, class V, class X>
__device__ void stage(const spmv_job& job, const term_planes<A>& terms, std::int64_t first,
                      int count) {
  if (job.columns.wide) {
    stage<A, V, X, std::int64_t>(job, terms, first, count);
  } else {
    stage<A, V, X, std::int32_t>(job, terms, first, count);
  }
}

// --- Rows of a tile ------------------------------------------------------------------------------

constexpr int short_row = static_cast<int>(row_order::short_row);
constexpr int row_lanes = static_cast<int>(row_order::lanes);

/// A tile's terms and rows, in shared memory. A row's sum takes the place of its first term.
template <class A>
struct tile_rows {
  term_planes<A> terms;
  const int* starts;  ///< of rows, among the terms; one more than there are rows
  int rows;
};

/// Sums the short rows, each in `threads` threads.
template <class A, int threads>
__device__ void sum_short_rows(const tile_rows<A>& tile) {
  using Sum = dot_sum<A>;
  constexpr int own = row_lanes / threads;               // lanes of a thread
  constexpr int at_once = threads == row_lanes ? 4 : 1;  // terms of a lane: such rows may be long
  constexpr int in_block = static_cast<int>(tile_threads) / threads;
  const int lane = static_cast<int>(threadIdx.x) % threads;
  for (int first = 0; first < tile.rows; first += in_block) {
    const int row = first + static_cast<int>(threadIdx.x) / threads;
    const int starts_at = row < tile.rows ? tile.starts[row] : 0;
    const int end = row < tile.rows ? tile.starts[row + 1] : 0;
    const bool is_short = end - starts_at <= short_row;
    Sum s[own];
    if (is_short) {
      int i = starts_at + lane;
      for (; i + (at_once * own - 1) * threads < end; i += at_once * row_lanes) {
        Sum next[at_once * own];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) next[v] = tile.terms[i + v * threads];
#pragma unroll
        for (int v = 0; v < at_once * own; ++v) s[v % own] = s[v % own] + next[v];
      }
#pragma unroll
      for (int v = 0; v < at_once * own - 1; ++v) {
        if (i + v * threads < end) s[v % own] = s[v % own] + tile.terms[i + v * threads];
      }
    }
#pragma unroll
    for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
      for (int v = 0; v < half; ++v) s[v] = s[v] + s[v + half];
    }
#pragma unroll
    for (int d = threads / 2; d > 0; d /= 2) s[0] = s[0] + from_lane_xor(s[0], d);
    if (is_short && lane == 0 && starts_at < end) tile.terms.put(starts_at, s[0]);
  }
}

/// A warp's sum of a chunk.
template <class A>
__device__ dot_sum<A> sum_chunk(term_planes<A> terms, int first, int count) {
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

template <class A>
__device__ void sum_short_rows(const tile_rows<A>& tile, bool uneven) {
  constexpr int threads = tile_threads;
  if (uneven || tile.rows * 8 <= threads) return sum_short_rows<A, 8>(tile);
  if (tile.rows * 4 <= threads) return sum_short_rows<A, 4>(tile);
  if (tile.rows * 2 <= threads) return sum_short_rows<A, 2>(tile);
  sum_short_rows<A, 1>(tile);
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

/// The tree over `count` sums of which the last is `own`, a warp's, and the others are in words.
template <class Sum>
__device__ Sum gather_shares(std::uint64_t* words, std::int64_t count, const Sum& own, int lane) {
  constexpr int a_sum = words_of<handed_sum<Sum>>;
  warp_tree<Sum> tree;
  for (std::int64_t first = 0; first < count; first += warp) {
    const std::int64_t i = first + lane;
    const bool takes = i < count - 1;
    std::uint32_t payload[a_sum];
    take(words + (takes ? i : 0) * a_sum, takes, payload);
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
__device__ dot_sum<A> sum_share(const spmv_job& job, const term_planes<A>& terms,
                                const split_share& share) {
  using Sum = dot_sum<A>;
  const int lane = threadIdx.x % warp;
  const bool sums = threadIdx.x < warp;
  warp_tree<Sum> tree;
  for (std::int64_t done = 0; done < share.count; done += chunk) {
    const int some = within_chunk(share.count - done);
    stage<A, V, X>(job, terms, share.first + done, some);
    __syncthreads();
    if (sums) tree.add(sum_chunk(terms, 0, some), lane);
    __syncthreads();
  }
  if (!sums) return {};
  const Sum sum = tree.total();
  if (!share.is_last()) {
    constexpr int a_sum = words_of<handed_sum<Sum>>;
    if (lane == 0) {
      put(job.words + (share.first_slot + share.index) * a_sum, handed_sum<Sum>{sum});
    }
  } else if (share.shares == 1 && lane == 0) {
    write_row<A>(job, share.row, finish_parts(sum, conjugate::none));
  }
  return sum;
}

// --- Tiles ---------------------------------------------------------------------------------------

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
  tile_start found{low, offset(low), 0, 0};
  const std::int64_t before = low > 0 ? offset(low - 1) : 0;
  found.whole = found.nonzero - before > split_row ? before : found.nonzero;
  return found;
}

template <class A, class V, class X>
__global__ void __launch_bounds__(tile_threads, tile_blocks<A>)
    spmv_tiles(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ int starts[tile_size + 1];
  __shared__ int long_rows[most_terms / (short_row + 1) + 1];
  __shared__ int long_count;
  __shared__ tile_start found[2];
  const term_planes<A> terms(memory);
  tile_start tile, next;
  if (job.starts != nullptr) {  // nobody writes them any more
    tile = job.starts[blockIdx.x];
    next = job.starts[blockIdx.x + 1];
    wait_for_launch_before();
  } else {
    wait_for_launch_before();
    if (threadIdx.x < 2 * warp) {
      const unsigned which = threadIdx.x / warp;
      const tile_start start = find_start(job, blockIdx.x + which);
      if (threadIdx.x % warp == 0) found[which] = start;
    }
    __syncthreads();
    tile = found[0];
    next = found[1];
  }
  const bool splits_last = next.row > tile.row && next.whole < next.nonzero;
  const int count = next.row > tile.row ? static_cast<int>(next.whole - tile.nonzero) : 0;
  const int rows = static_cast<int>(next.row - tile.row) - splits_last;

  // Shares come first, so that they are all there when the last one's block wants them.
  split_share share;
  dot_sum<A> sum_of_share;
  if (tile.whole < tile.nonzero) {
    share = share_of_block(job, tile.row - 1, tile.whole, tile.nonzero - tile.whole);
    if (share.count > 0) sum_of_share = sum_share<A, V, X>(job, terms, share);
  }
  if (splits_last) {
    sum_share<A, V, X>(job, terms,
                       share_of_block(job, next.row - 1, next.whole, next.nonzero - next.whole));
  }

  if (threadIdx.x == 0) long_count = 0;
  for (int i = static_cast<int>(threadIdx.x); i <= rows; i += static_cast<int>(tile_threads)) {
    starts[i] =
        i == rows
            ? count
            : static_cast<int>(job.offsets[static_cast<std::size_t>(tile.row + i)] - tile.nonzero);
  }
  stage<A, V, X>(job, terms, tile.nonzero, count);
  __syncthreads();
  bool uneven = false;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(tile_threads)) {
    const int length = starts[i + 1] - starts[i];
    uneven |= length > uneven_row;
    if (length > short_row) long_rows[atomicAdd(&long_count, 1)] = i;
  }
  uneven = __syncthreads_or(uneven);
  sum_short_rows(tile_rows<A>{terms, starts, rows}, uneven);
  for (int i = static_cast<int>(threadIdx.x / warp); i < long_count; i += tile_threads / warp) {
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
    constexpr int a_sum = words_of<handed_sum<dot_sum<A>>>;
    const dot_sum<A> sum = gather_shares(job.words + share.first_slot * a_sum, share.shares,
                                         sum_of_share, static_cast<int>(threadIdx.x));
    if (threadIdx.x == 0) write_row<A>(job, share.row, finish_parts(sum, conjugate::none));
  }
  // The type is atomicAdd's name for std::uint64_t.
  if (threadIdx.x == 0 && job.ended != nullptr) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
  }
}

// --- Short rows alone ----------------------------------------------------------------------------

/// A row's sum by `threads` threads.
template <class A, class V, class X, class Column, int threads>
__device__ dot_sum<A> sum_row(const spmv_job& job, std::int64_t start, std::int64_t end) {
  constexpr int own = row_lanes / threads;  // lanes of a thread
  constexpr int in_flight = own < 4 ? 4 : own;
  dot_sum<A> s[own];
#pragma unroll 1
  for (std::int64_t i = start + threadIdx.x % threads; i < end; i += in_flight * threads) {
    dot_sum<A> terms[in_flight];
    load_terms<A, V, X, Column, in_flight, threads>(job, i, end, terms);
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
  wait_for_launch_before();
  std::int64_t start = 0, end = 0;
  if (row < job.rows) {
    start = job.offsets[static_cast<std::size_t>(row)];
    end = job.offsets[static_cast<std::size_t>(row) + 1];
  }
  dot_sum<A> sum;
  if (job.columns.wide) {
    sum = sum_row<A, V, X, std::int64_t, threads>(job, start, end);
  } else {
    sum = sum_row<A, V, X, std::int32_t, threads>(job, start, end);
  }
  let_launch_after_start();
  if (row < job.rows && threadIdx.x % threads == 0) {
    write_row<A>(job, row, finish_parts(sum, conjugate::none));
  }
}

/// For spmv_kernels.hpp.
template <class A>
const spmv_kernel_table& table_of_spmv_kernels() {
  static constexpr auto table = []<class... V>(type_list<V...>) {
    spmv_kernel_table all{};
    const auto with_value = [&]<class Value, class... X>(std::type_identity<Value>,
                                                         type_list<X...>) {
      const auto one = [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<dot_result_t<Value, T>, A>) {
          auto& choice =
              all[static_cast<std::size_t>(type_of<Value>)][static_cast<std::size_t>(type_of<T>)];
          choice.tiles = &spmv_tiles<A, Value, T>;
          choice.shared_bytes = term_planes<A>::bytes;
          if constexpr (!is_complex_v<A> || std::is_same_v<Value, T>) {  // others are too rare
            choice.rows[1] = &spmv_rows<A, Value, T, 2>;
            choice.rows[2] = &spmv_rows<A, Value, T, 4>;
            choice.rows[3] = &spmv_rows<A, Value, T, 8>;
          }
        }
      };
      (one(std::type_identity<X>{}), ...);
    };
    (with_value(std::type_identity<V>{}, spmv_vector_types{}), ...);
    return all;
  }(csr_value_types{});
  return table;
}

}  // namespace tally::backends::cuda
