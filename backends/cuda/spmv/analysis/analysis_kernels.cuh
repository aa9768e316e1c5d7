// Functions shared by the analysis kernels.
#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <tally/numerics/order.hpp>

#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

__device__ inline std::int64_t offset(const analysis_job& s, std::int64_t i) {
  return s.offsets[static_cast<std::size_t>(i)];
}

/// Returns a result word for atomicMax and atomicAdd.
__device__ inline unsigned long long* counter(const analysis_job& s, unsigned word) {
  return reinterpret_cast<unsigned long long*>(s.found + word);
}

__device__ inline std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

__device__ inline void report(const analysis_job& s, csr_defect::kind kind, std::int64_t index) {
  const std::uint64_t key = static_cast<std::uint64_t>(kind) << result_words::index_bits |
                            static_cast<std::uint64_t>(index);
  atomicMax(counter(s, result_words::defect), ~key);
}

/// Reports a column outside the matrix, in thread `own` of `threads`, by 16-byte loads.
template <class Column>
__device__ void check_columns(const analysis_job& s, const Column* columns, std::int64_t own,
                              std::int64_t threads) {
  constexpr int per_load = 16 / sizeof(Column), in_flight = 4;
  // Negative columns are large, too.
  constexpr auto end_of_type = std::uint64_t{1} << (8 * sizeof(Column) - 1);
  const std::uint64_t end =
      ::min(static_cast<std::uint64_t>(s.column_count), std::uint64_t{end_of_type});
  const auto is_wrong = [&](Column column) {
    return static_cast<std::make_unsigned_t<Column>>(column) >= end;
  };
  struct alignas(16) load {
    Column of[per_load];
  };
  const auto past = reinterpret_cast<std::uint64_t>(columns) % sizeof(load) / sizeof(Column);
  const std::int64_t ahead =
      ::min((per_load - static_cast<std::int64_t>(past)) % per_load, s.nonzeros);
  const std::int64_t loads = (s.nonzeros - ahead) / per_load;
  const auto* const all = reinterpret_cast<const load*>(columns + ahead);
  std::int64_t first = s.nonzeros;  // first wrong column
  const auto look = [&](std::int64_t i, Column column) {
    if (is_wrong(column) && i < first) first = i;
  };
  for (std::int64_t i = own; i < loads && first == s.nonzeros; i += in_flight * threads) {
    load some[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < loads) some[k] = all[i + k * threads];
    }
    bool any = false;
#pragma unroll
    for (const load& l : some) {
#pragma unroll
      for (const Column column : l.of) any |= is_wrong(column);
    }
    for (int k = 0; any && k < in_flight && i + k * threads < loads; ++k) {
      const std::int64_t at = ahead + (i + k * threads) * per_load;
      for (int j = 0; j < per_load; ++j) look(at + j, columns[at + j]);
    }
  }
  if (const std::int64_t i = own; i < per_load) {
    const std::int64_t behind = ahead + loads * per_load + i;
    if (i < ahead) look(i, columns[i]);
    if (behind < s.nonzeros) look(behind, columns[behind]);
  }
  if (first < s.nonzeros) report(s, csr_defect::kind::column, first);
}

__device__ inline void check_columns(const analysis_job& s, std::int64_t own,
                                     std::int64_t threads) {
  s.columns.wide ? check_columns(s, static_cast<const std::int64_t*>(s.columns.data), own, threads)
                 : check_columns(s, static_cast<const std::int32_t*>(s.columns.data), own, threads);
}

__device__ inline unsigned shares_of(const analysis_job& s, std::int64_t length) {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  return static_cast<unsigned>((length - 1) / chunk >> s.segment_shift) + 1;
}

/// Publishes the results, in a warp, and clears them.
__device__ inline void tell(const analysis_job& s) {
  static_assert(result_words::words <= warp);
  const unsigned word = threadIdx.x;
  if (word >= result_words::words) return;
  const std::uint64_t found = __ldcg(s.found + word);
  s.found[word] = 0;
  __threadfence();  // once published, another analysis may use it on any stream
  auto* const to = static_cast<volatile std::uint64_t*>(s.result) + 2 * word;
  to[0] = make_word(static_cast<std::uint32_t>(found), s.tag);
  to[1] = make_word(static_cast<std::uint32_t>(found >> 32), s.tag);
}

/// Adds a block's counts to a word.
__device__ inline void add_of_block(const analysis_job& s, unsigned word, unsigned count) {
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  const unsigned all = sum_of_warp(count);
  if (threadIdx.x % warp == 0 && all > 0) atomicAdd(&of_block, 0ull + all);
  __syncthreads();
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(counter(s, word), of_block);
  __syncthreads();
}

/// Counts an ending block in a word; returns whether it is the last.
__device__ inline bool is_last_block(const analysis_job& s, unsigned word) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(counter(s, word), 1ull) == gridDim.x - 1;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

/// Called at each block's end: the last block of the last launch publishes.
__device__ inline void end_analysis_block(const analysis_job& s) {
  if (s.tells && is_last_block(s, result_words::ended)) tell(s);
}

}  // namespace tally::backends::cuda
