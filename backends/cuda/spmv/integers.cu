// Rows of integers, values alone: sums modulo 2^64, whatever the order, in parts of the merge path
// (csr/merge_path.cuh). Of short rows a block takes a part, and the prefix sums of its terms; a
// row's sum is the difference of two. Of rows that are long in the mean a warp takes a part, row by
// row. Rows that a border cuts are added by atomics to zeros.
#include "backends/cuda/spmv/integers.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/cuda/spmv/csr/merge_path.cuh"
#include "backends/cuda/spmv/method.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {
namespace {

/// Steps of the path per block, several of spmv's tiles: each begins with a search
/// (tuning/spmv.md: tiles_per_block).
constexpr int tiles_per_block = 4;
constexpr int path_per_block = tiles_per_block * merge_tile_path;
constexpr int threads = merge_tile_threads;
constexpr int terms_per_thread = path_per_block / threads;
static_assert(terms_per_thread * threads == path_per_block);

/// Index in shared memory: adjacent threads' terms lie in different banks.
__device__ int padded(int i) { return i + i / terms_per_thread; }

__device__ std::uint64_t* result_of(const spmv_job& job, std::int64_t row) {
  return static_cast<std::uint64_t*>(job.y.data) + row * job.y.increment;
}

__global__ void __launch_bounds__(threads) write_zeros(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < job.rows; i += step) {
    *result_of(job, i) = 0;
  }
}

/// Replaces terms by the sums of those before them, and appends the sum of all.
__device__ void scan(std::uint64_t* terms) {
  __shared__ std::uint64_t of_warps[threads / warp];
  std::uint64_t own[terms_per_thread], sum = 0;
  const int first = static_cast<int>(threadIdx.x) * terms_per_thread;
#pragma unroll
  for (int i = 0; i < terms_per_thread; ++i) sum += own[i] = terms[padded(first + i)];
  std::uint64_t upto = sum;  // this thread's and those before it in the warp
#pragma unroll
  for (unsigned distance = 1; distance < warp; distance *= 2) {
    const std::uint64_t before = __shfl_up_sync(whole_warp, upto, distance);
    if (threadIdx.x % warp >= distance) upto += before;
  }
  if (threadIdx.x % warp == warp - 1) of_warps[threadIdx.x / warp] = upto;
  __syncthreads();
  std::uint64_t before = upto - sum;
  for (unsigned w = 0; w < threadIdx.x / warp; ++w) before += of_warps[w];
#pragma unroll
  for (int i = 0; i < terms_per_thread; ++i) {
    terms[padded(first + i)] = before;
    before += own[i];
  }
  if (threadIdx.x == threads - 1) terms[padded(path_per_block)] = before;
  __syncthreads();
}

template <class X>
__global__ void __launch_bounds__(threads) sum_parts(const __grid_constant__ spmv_job job) {
  __shared__ std::uint64_t terms[path_per_block + path_per_block / terms_per_thread + 1];
  __shared__ std::int64_t rows[2];
  wait_for_launch_before();
  if (threadIdx.x < 2 * warp) {
    const unsigned which = threadIdx.x / warp;
    const merge_tile_start start =
        merge_path_search(job, (std::int64_t{blockIdx.x} + which) * tiles_per_block);
    if (threadIdx.x % warp == 0) rows[which] = start.row;
  }
  __syncthreads();
  // Steps of the path that are not begins of rows are terms. Wrong offsets give wrong numbers.
  const std::int64_t path = job.rows + job.nonzeros;
  const auto terms_before = [&](std::int64_t block, std::int64_t row) {
    const std::int64_t place = block * path_per_block;
    return job.within((place < path ? place : path) - row);
  };
  const std::int64_t begin = terms_before(blockIdx.x, rows[0]);
  const std::int64_t end =
      ::min(terms_before(std::int64_t{blockIdx.x} + 1, rows[1]), begin + path_per_block);
  using stored = std::conditional_t<std::is_same_v<X, bool>, std::uint8_t, X>;
  const auto* const x = static_cast<const stored*>(job.values.data) + begin;
#pragma unroll
  for (int i = threadIdx.x; i < path_per_block; i += threads) {
    terms[padded(i)] = begin + i < end ? static_cast<std::uint64_t>(X(__ldcg(x + i))) : 0;
  }
  __syncthreads();
  scan(terms);
  const auto within = [&](std::int64_t term) {
    return static_cast<int>(::max(::min(term, end), begin) - begin);
  };
  // The row before the first that begins here may reach into the part.
  for (std::int64_t row = ::max(rows[0] - 1, std::int64_t{0}) + threadIdx.x; row < rows[1];
       row += threads) {
    const std::int64_t first = job.offset(row), last = job.offset(row + 1);
    const int from = within(first), to = within(last);
    const std::uint64_t sum = terms[padded(to)] - terms[padded(from)];
    if (first >= begin && last <= end) {
      *result_of(job, row) = sum;
    } else if (from < to) {
      atomicAdd(reinterpret_cast<unsigned long long*>(result_of(job, row)), sum);
    }
  }
}

// Long rows (tuning/spmv.md: long_from).

/// Steps of the path per warp, in tiles.
template <class X>
constexpr int tiles_per_warp = sizeof(X) < 4 ? 4 : 2;
/// Mean terms of rows that are long.
constexpr std::size_t long_from = 48;
/// Mean bytes of rows from which a warp sums one at a time; else a group of `few_threads` does.
constexpr std::size_t whole_warp_from = 1024;
constexpr int few_threads = 8;

/// Terms of a warp's rows, 16 bytes a load, added by groups of `group` threads, a row each.
template <class X, int group>
class long_row_terms {
  static constexpr int per_load = 16 / static_cast<int>(sizeof(X));
  static_assert(tiles_per_warp<X> * merge_tile_path <= 1 << 14);  // fit 32 bits if short
  using sum_type = std::conditional_t<sizeof(X) <= 2, std::int32_t, std::uint64_t>;
  using stored = std::conditional_t<std::is_same_v<X, bool>, std::uint8_t, X>;

 public:
  __device__ long_row_terms(const spmv_job& job, std::int64_t begin)
      : x_(static_cast<const stored*>(job.values.data) + begin),
        phase_(static_cast<int>(reinterpret_cast<std::uintptr_t>(x_) / sizeof(X) % per_load)) {}

  /// Returns the sum of terms [from, to) to all threads of the group, of which this is `thread`.
  __device__ std::uint64_t sum(int from, int to, int thread) const {
    sum_type total = 0;
    const int first = ::min((from + phase_ + per_load - 1) / per_load * per_load - phase_, to);
    const int loads = (to - first) / per_load;
    // Terms before the first load and behind the last.
    const int before = first - from, edges = to - from - loads * per_load;
    constexpr int edges_per_thread = (2 * (per_load - 1) + group - 1) / group;
    stored edge[edges_per_thread];
#pragma unroll
    for (int k = 0; k < edges_per_thread; ++k) {
      const int i = thread + k * group;
      edge[k] = 0;
      if (i < edges) edge[k] = __ldcg(x_ + from + i + (i < before ? 0 : loads * per_load));
    }
    constexpr int in_flight = 4;
    const auto* at = reinterpret_cast<const uint4*>(x_ + first) + thread;
#pragma unroll 1
    for (int left = loads - thread; left > 0; left -= in_flight * group) {
      uint4 some[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        some[k] = k * group < left ? __ldcg(at + k * group) : uint4{};
      }
      at += in_flight * group;
#pragma unroll
      for (int k = 0; k < in_flight; ++k) total += sum_of(some[k]);
    }
#pragma unroll
    for (int k = 0; k < edges_per_thread; ++k) total += static_cast<sum_type>(X(edge[k]));
#pragma unroll
    for (int d = 1; d < group; d *= 2) total += __shfl_xor_sync(whole_warp, total, d);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(total));
  }

 private:
  static __device__ sum_type sum_of(const uint4& loaded) {
    stored terms[per_load];
    memcpy(terms, &loaded, sizeof loaded);
    sum_type sum = 0;
#pragma unroll
    for (const stored t : terms) sum += static_cast<sum_type>(X(t));
    return sum;
  }

  const stored* x_;
  int phase_;  // terms from a multiple of 16 bytes to x_
};

/// A group of threads sums a row; those of a warp that write rows do so side by side.
template <class X, int group>
__global__ void __launch_bounds__(threads) sum_long_parts(const __grid_constant__ spmv_job job) {
  constexpr int warps = threads / warp, at_once = warp / group, tiles = tiles_per_warp<X>;
  __shared__ std::int64_t rows[warps + 1];
  wait_for_launch_before();
  const int w = static_cast<int>(threadIdx.x / warp), thread = static_cast<int>(threadIdx.x % warp);
  const std::int64_t part = std::int64_t{blockIdx.x} * warps + w;
  for (int i = w; i <= warps; i += warps) {
    const merge_tile_start start = merge_path_search(job, (part - w + i) * tiles);
    if (thread == 0) rows[i] = start.row;
  }
  __syncthreads();
  constexpr int steps = tiles * merge_tile_path;
  const std::int64_t path = job.rows + job.nonzeros;
  const auto terms_before = [&](std::int64_t p, std::int64_t row) {
    const std::int64_t place = p * steps;
    return job.within((place < path ? place : path) - row);
  };
  const std::int64_t begin = terms_before(part, rows[w]);
  const std::int64_t end = ::min(terms_before(part + 1, rows[w + 1]), begin + steps);
  const auto within = [&](std::int64_t term) {
    return static_cast<int>(::max(::min(term, end), begin) - begin);
  };
  const long_row_terms<X, group> terms(job, begin);
  for (std::int64_t first = ::max(rows[w] - 1, std::int64_t{0}); first < rows[w + 1];
       first += warp) {
    const std::int64_t row = first + thread;
    int from = 0, to = 0;
    bool whole = false;
    if (row < rows[w + 1]) {
      const std::int64_t row_begin = job.offset(row), row_end = job.offset(row + 1);
      from = within(row_begin), to = within(row_end);
      whole = row_begin >= begin && row_end <= end;
    }
    std::uint64_t own = 0;
#pragma unroll 1
    for (int turn = 0; turn < group; ++turn) {
      const int of = turn * at_once + thread / group;
      const int some_from = __shfl_sync(whole_warp, from, of);
      const int some_to = __shfl_sync(whole_warp, to, of);
      if (!__any_sync(whole_warp, some_from < some_to)) continue;
      const std::uint64_t sum = terms.sum(some_from, ::max(some_from, some_to), thread % group);
      const std::uint64_t mine = __shfl_sync(whole_warp, sum, thread % at_once * group);
      if (thread / at_once == turn) own = mine;
    }
    if (from >= to) continue;
    if (whole) {
      *result_of(job, row) = own;
    } else {
      atomicAdd(reinterpret_cast<unsigned long long*>(result_of(job, row)), own);
    }
  }
}

}  // namespace

void sum_integer_rows(const executor& where, const current_device& current, const csr_product& a) {
  is_captured(where.stream(), false, "segmented_sum");
  spmv_job job(a);
  job.y = typed_vector(a.y);
  const auto queue = [&](void (*kernel)(spmv_job), std::size_t blocks) {
    launch(reinterpret_cast<const void*>(kernel),
           {.blocks = static_cast<unsigned>(blocks), .threads = threads}, &job, current.device(),
           where.stream());
  };
  queue(&write_zeros, std::min<std::size_t>(ceil_div(a.a.rows, threads), 1 << 16));
  with_type<integer_types>(a.a.values.element, [&]<class X>() {
    const std::size_t mean = a.a.nonzeros() / a.a.rows;
    if (mean >= long_from) {
      constexpr int path_of_block = tiles_per_warp<X> * merge_tile_path * (threads / warp);
      return queue(mean * sizeof(X) >= whole_warp_from ? &sum_long_parts<X, warp>
                                                       : &sum_long_parts<X, few_threads>,
                   ceil_div(a.a.rows + a.a.nonzeros(), path_of_block));
    }
    queue(&sum_parts<X>, ceil_div(a.a.rows + a.a.nonzeros(), path_per_block));
  });
}

}  // namespace tally::backends::cuda
