// spmv on a GPU: a block for each tile of the matrix (spmv_shape.hpp), one launch for each call.
//
// Promise: the bits of the row order. A block computes its tile's terms, adjacent threads adjacent
// ones, into shared memory, where rows are summed: short ones in 1, 2, 4 or 8 threads, which own
// lanes of the order that lie so many apart, longer ones by a warp. Lanes start at +0, so none can
// hold -0, and a lane without terms may be added or not. Compiled with -fmad=false: a product is
// rounded before it is added.
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
  __device__ void put(int i, const dot_sum<A>& term) {
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

/// Elements that are read once: not kept in L1, whose room x needs, and the first to leave L2.
template <class T>
__device__ T load_once(const T* from) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const unsigned short*>(from)));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const unsigned*>(from)));
  } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    return __builtin_bit_cast(T, __ldcs(reinterpret_cast<const unsigned long long*>(from)));
  } else {
    return {load_once(&from->re), load_once(&from->im)};
  }
}

/// The terms of `count` nonzeros from `first` on.
template <class A, class V, class X, class Column>
__device__ void stage(const spmv_job& job, term_planes<A> terms, std::int64_t first, int count) {
  using DV = on_device_t<V>;
  using DX = on_device_t<X>;
  constexpr int threads = tile_threads;
  constexpr int in_flight = 4;
  const auto* const columns = static_cast<const Column*>(job.columns.data) + first;
  const auto* const values = static_cast<const DV*>(job.values.data) + first;
  const auto* const x = static_cast<const real_t<X>*>(job.x.data);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * threads) {
    Column column[in_flight];
    DV value[in_flight];
    DX element[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) {
        column[k] = load_once(columns + i + k * threads);
        value[k] = load_once(values + i + k * threads);
      }
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) {
        element[k] = *reinterpret_cast<const DX*>(x + column[k] * job.x.increment);
      }
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) {
        terms.put(i + k * threads, term_of<A, V, X>(value[k], element[k]));
      }
    }
  }
}

template <class A, class V, class X>
__device__ void stage(const spmv_job& job, term_planes<A> terms, std::int64_t first, int count) {
  if (job.columns.wide) {
    stage<A, V, X, std::int64_t>(job, terms, first, count);
  } else {
    stage<A, V, X, std::int32_t>(job, terms, first, count);
  }
}

// --- Rows of a tile ------------------------------------------------------------------------------

constexpr int short_row = static_cast<int>(row_order::short_row);
constexpr int row_lanes = static_cast<int>(row_order::lanes);

/// A tile's terms and rows, in shared memory.
template <class A>
struct tile_rows {
  term_planes<A> terms;
  const int* starts;  ///< of rows, among the terms; one more than there are rows
  int rows;
  std::int64_t first;  ///< the first row's number
};

/// The short rows, each in `threads` threads.
template <class A, int threads>
__device__ void sum_short_rows(const spmv_job& job, const tile_rows<A>& tile) {
  using Sum = dot_sum<A>;
  constexpr int own = row_lanes / threads;  // lanes of a thread
  constexpr int in_block = static_cast<int>(tile_threads) / threads;
  const int lane = static_cast<int>(threadIdx.x) % threads;
  for (int first = 0; first < tile.rows; first += in_block) {
    const int row = first + static_cast<int>(threadIdx.x) / threads;
    int i = lane, end = 0;
    if (row < tile.rows) {
      i += tile.starts[row];
      end = tile.starts[row + 1];
    }
    const bool is_short = row < tile.rows && end - (i - lane) <= short_row;
    Sum s[own];
    if (is_short) {
      for (; i + (own - 1) * threads < end; i += row_lanes) {
#pragma unroll
        for (int v = 0; v < own; ++v) s[v] = s[v] + tile.terms[i + v * threads];
      }
#pragma unroll
      for (int v = 0; v < own - 1; ++v) {
        if (i + v * threads < end) s[v] = s[v] + tile.terms[i + v * threads];
      }
    }
#pragma unroll
    for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
      for (int v = 0; v < half; ++v) s[v] = s[v] + s[v + half];
    }
#pragma unroll
    for (int d = threads / 2; d > 0; d /= 2) s[0] = s[0] + from_lane_xor(s[0], d);
    if (is_short && lane == 0) {
      write_row<A>(job, tile.first + row, finish_parts(s[0], conjugate::none));
    }
  }
}

/// A warp's sum of a chunk.
template <class A>
__device__ dot_sum<A> sum_chunk(term_planes<A> terms, int first, int count) {
  dot_sum<A> low, high;
  for (int i = static_cast<int>(threadIdx.x % warp); i < count; i += static_cast<int>(order::lanes)) {
    low = low + terms[first + i];
    if (i + static_cast<int>(warp) < count) {
      high = high + terms[first + i + static_cast<int>(warp)];
    }
  }
  low = low + high;
#pragma unroll
  for (int d = warp / 2; d > 0; d /= 2) low = low + from_lane_xor(low, d);
  return low;
}

template <class A>
__device__ void sum_short_rows(const spmv_job& job, const tile_rows<A>& tile, bool uneven) {
  constexpr int threads = tile_threads;
  if (uneven || tile.rows * 8 <= threads) return sum_short_rows<A, 8>(job, tile);
  if (tile.rows * 4 <= threads) return sum_short_rows<A, 4>(job, tile);
  if (tile.rows * 2 <= threads) return sum_short_rows<A, 2>(job, tile);
  sum_short_rows<A, 1>(job, tile);
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

/// The block's share of a row of more than `split_row` terms, if it has one.
template <class A, class V, class X>
__device__ void sum_share(const spmv_job& job, term_planes<A> terms, std::int64_t row,
                          std::int64_t start, std::int64_t length) {
  using Sum = dot_sum<A>;
  const std::int64_t first_tile = (row + start) / tile_size;
  const std::int64_t ahead = blockIdx.x - first_tile;
  const std::int64_t share = ahead >> job.share_shift;
  const std::int64_t share_terms = std::int64_t{tile_size} << job.share_shift;
  const std::int64_t first = share * share_terms;
  if (share << job.share_shift != ahead || first >= length) return;
  const std::int64_t count = length - first < share_terms ? length - first : share_terms;
  const std::int64_t shares = (length + share_terms - 1) / share_terms;

  const int lane = threadIdx.x % warp;
  const bool sums = threadIdx.x < warp;
  warp_tree<Sum> tree;
  for (std::int64_t done = 0; done < count; done += chunk) {
    const int some = within_chunk(count - done);
    __syncthreads();  // the terms before are summed
    stage<A, V, X>(job, terms, start + first + done, some);
    __syncthreads();
    if (sums) tree.add(sum_chunk(terms, 0, some), lane);
  }
  if (!sums) return;
  Sum sum = tree.total();
  constexpr int a_sum = words_of<handed_sum<Sum>>;
  std::uint64_t* const first_words = job.words + (first_tile >> job.share_shift) * a_sum;
  if (share < shares - 1) {
    if (lane == 0) put(first_words + share * a_sum, handed_sum<Sum>{sum});
    return;
  }
  if (shares > 1) sum = gather_shares(first_words, shares, sum, lane);
  if (lane == 0) write_row<A>(job, row, finish_parts(sum, conjugate::none));
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
  std::int64_t low = 0, high = job.rows;  // the row is in [low, high]
  const auto look = [&](std::int64_t probe) {  // rising with the lane
    probe = probe < low ? low : probe > high ? high : probe;
    const unsigned behind = __ballot_sync(whole_warp, offset(probe) + probe >= place);
    const int first = behind == 0 ? static_cast<int>(warp) : __ffs(static_cast<int>(behind)) - 1;
    const std::int64_t at = __shfl_sync(whole_warp, probe, first % static_cast<int>(warp));
    const std::int64_t before = __shfl_sync(whole_warp, probe, first == 0 ? 0 : first - 1);
    if (behind != 0) high = at;
    if (first > 0) low = before + 1;
  };
  const auto guess = static_cast<std::int64_t>(static_cast<double>(place) *
                                               static_cast<double>(job.rows) /
                                               static_cast<double>(end));
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
__global__ void __launch_bounds__(tile_threads) spmv_tiles(const __grid_constant__ spmv_job job) {
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

  if (threadIdx.x == 0) long_count = 0;
  for (int i = static_cast<int>(threadIdx.x); i <= rows; i += static_cast<int>(tile_threads)) {
    starts[i] = i == rows ? count
                          : static_cast<int>(job.offsets[static_cast<std::size_t>(tile.row + i)] -
                                             tile.nonzero);
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
  sum_short_rows(job, tile_rows<A>{terms, starts, rows, tile.row}, uneven);
  for (int i = static_cast<int>(threadIdx.x / warp); i < long_count; i += tile_threads / warp) {
    const int row = long_rows[i];
    const dot_sum<A> sum = sum_chunk(terms, starts[row], starts[row + 1] - starts[row]);
    if (threadIdx.x % warp == 0) {
      write_row<A>(job, tile.row + row, finish_parts(sum, conjugate::none));
    }
  }
  let_launch_after_start();

  if (tile.whole < tile.nonzero) {
    sum_share<A, V, X>(job, terms, tile.row - 1, tile.whole, tile.nonzero - tile.whole);
  }
  if (splits_last) {
    sum_share<A, V, X>(job, terms, next.row - 1, next.whole, next.nonzero - next.whole);
  }
  // The type is atomicAdd's name for std::uint64_t.
  if (threadIdx.x == 0 && job.ended != nullptr) {
    atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
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
          all[static_cast<std::size_t>(type_of<Value>)][static_cast<std::size_t>(type_of<T>)] = {
              &spmv_tiles<A, Value, T>, term_planes<A>::bytes};
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
