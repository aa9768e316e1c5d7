// Rows of integers, values alone: sums modulo 2^64, whatever the order. A block takes a part of the
// merge path (csr/merge_path.cuh) and the prefix sums of its terms; a row's sum is the difference
// of two. Parts of rows that a border cuts are added by atomics to zeros.
#include "backends/cuda/spmv/integers.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/cuda/spmv/csr/merge_path.cuh"
#include "backends/cuda/spmv/method.hpp"

#include <algorithm>
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
    queue(&sum_parts<X>, ceil_div(a.a.rows + a.a.nonzeros(), path_per_block));
  });
}

}  // namespace tally::backends::cuda
