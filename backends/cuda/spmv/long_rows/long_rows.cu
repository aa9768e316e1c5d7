// Long rows. Few rows of many chunks each, with a plan or without: the warps of a grid take one
// chunk after another. Chunk k of row i, which begins at term b, has the number b / 1024 + i + k,
// by which a warp finds it; some numbers have none. The warp whose chunk is the last of a row to
// come adds their sums. A plan that knows columns keeps them in 16 bits, as differences from the
// chunk's least. Many rows of a few chunks, with a plan or without: a block has one row.
//
// Promise: y has the bits of the row order. Offsets may be wrong (job.hpp).
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/common/near_columns.cuh"
#include "backends/cuda/spmv/csr/row_threads.cuh"
#include "backends/cuda/spmv/queued_rows/queued_rows.hpp"
#include "backends/cuda/spmv/queued_rows/segment_queue.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <cstdint>
#include <string>

namespace tally::backends::cuda {
namespace {

/// Blocks per SM, and terms per thread at a time, which bound registers (tuning/spmv.md:
/// has_long_rows).
constexpr unsigned long_row_threads = 256;
template <class T>
constexpr unsigned long_row_blocks_per_sm = sizeof(T) == 8 ? 3 : 6;
template <class T>
constexpr int long_row_in_flight = sizeof(T) == 8 ? 8 : 4;

/// Threads of a block that has one row, each with a lane, and blocks per SM, which bound registers
/// (tuning/spmv.md: spmv_whole_rows).
constexpr unsigned lane_threads = static_cast<unsigned>(order::lanes);
constexpr unsigned lane_blocks_per_sm = 10;

struct long_rows_job : spmv_job {
  explicit long_rows_job(const spmv_job& job) : spmv_job(job) {}

  near_columns near;          ///< by chunk
  int chunks = 0;             ///< numbers of chunks
  void* sums = nullptr;       ///< by chunk
  unsigned* added = nullptr;  ///< sums present, by row
};

/// Returns the numbers that chunks of a matrix may have.
std::size_t chunks_of(const csr_operand& a) { return a.nonzeros() / order::chunk + a.rows; }

/// Chunk of a row; `exists` is false of numbers that have none.
struct row_chunk {
  int row, begin, length, index;  ///< begin and length of the row
  bool exists;

  __device__ int first() const { return begin + index * chunk; }
  __device__ int terms() const { return ::min(length - index * chunk, chunk); }
};

/// Finds a chunk by its number, in a warp.
template <class Offset>
__device__ row_chunk find_chunk(int number, int rows, const Offset& offset_of, int thread) {
  int low = 0, high = rows - 1;  // the last row whose first chunk isn't behind
  while (low < high) {
    const int step = (high - low + static_cast<int>(warp) - 1) / static_cast<int>(warp);
    const int probe = ::min(low + (thread + 1) * step, high);
    const unsigned behind = __ballot_sync(whole_warp, offset_of(probe) / chunk + probe > number);
    if (behind == 0) {
      low = high;
    } else {
      const int good = __ffs(static_cast<int>(behind)) - 1;
      high = ::min(low + (good + 1) * step, high) - 1;
      low += good * step;
    }
  }
  row_chunk found{low, offset_of(low), 0, 0, false};
  found.length = ::max(offset_of(low + 1) - found.begin, 0);
  found.index = number - static_cast<int>(static_cast<unsigned>(found.begin) / chunk) - low;
  found.exists = found.index == 0 || (found.index > 0 && found.index <= (found.length - 1) / chunk);
  return found;
}

/// Sums a short row in a warp, all groups of threads the same.
template <class T>
__device__ __noinline__ dot_sum<T> sum_short_row(const spmv_job& job, int begin, int length) {
  return sum_row<T, T, T, std::int32_t, row_lanes>(job, begin, length);
}

__global__ void __launch_bounds__(long_row_threads)
    clear_added(const __grid_constant__ long_rows_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const std::int64_t row = std::int64_t{blockIdx.x} * long_row_threads + threadIdx.x;
  if (row < job.rows) job.added[row] = 0;
}

/// Sums a chunk in a warp, while columns and values of the next terms are loaded. `place(column)`:
/// where x has a column's element.
template <class T, class Column, class Place>
__device__ dot_sum<T> sum_long_chunk(const spmv_job& job, const Column* columns, const Place& place,
                                     int first, int terms, int thread) {
  constexpr int in_flight = long_row_in_flight<T>, apart = static_cast<int>(warp);
  const T* values = static_cast<const T*>(job.values.data) + first + thread;
  columns += first + thread;
  int left = terms - thread;
  Column column[in_flight];
  T value[in_flight];
  const auto load = [&] {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      column[k] = 0;
      load_if(k * apart < left, columns + k * apart, column[k]);
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      value[k] = 0;
      load_if(k * apart < left, values + k * apart, value[k]);
    }
  };
  load();
  dot_sum<T> low, high;
#pragma unroll 1
  while (left + thread > 0) {
    T element[in_flight], own[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      element[k] = 0;
      load_if(k * apart < left, place(column[k]), element[k]);
      own[k] = value[k];
    }
    columns += in_flight * apart;
    values += in_flight * apart;
    left -= in_flight * apart;
    load();
#pragma unroll
    for (int k = 0; k < in_flight; k += 2) {
      low = low + term_of<T, T, T>(own[k], element[k]);
      high = high + term_of<T, T, T>(own[k + 1], element[k + 1]);
    }
  }
  return fold_across_threads<warp>(low + high);
}

template <class T, bool is_near>
__global__ void __launch_bounds__(long_row_threads, long_row_blocks_per_sm<T>)
    spmv_long_rows(const __grid_constant__ long_rows_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const int thread = static_cast<int>(threadIdx.x % warp);
  const int warps = static_cast<int>(gridDim.x * (long_row_threads / warp));
  const int rows = static_cast<int>(job.rows);
  const auto find = [&](int number) {
    const auto offset_of = [&](int row) { return static_cast<int>(job.offset(row)); };
    return find_chunk(number, rows, offset_of, thread);
  };
  int number = static_cast<int>(threadIdx.x / warp * gridDim.x + blockIdx.x);
  if (number >= job.chunks) return;
  row_chunk next = find(number);
#pragma unroll 1
  while (number < job.chunks) {
    const row_chunk own = next;
    const int own_number = number;
    number += warps;
    if (number < job.chunks) next = find(number);
    if (!own.exists) continue;
    const T* x = static_cast<const T*>(job.x.data);
    dot_sum<T> sum;
    if (own.length <= short_row) {
      sum = sum_short_row<T>(job, own.begin, own.length);
    } else if constexpr (is_near) {
      const int least = job.near.least[own_number];
      const int max_code =
          static_cast<int>(job.column_count) - 1 - least;  // if offsets have changed
      x += least;
      const auto place = [&](std::uint16_t code) { return x + ::min(int{code}, max_code); };
      sum = sum_long_chunk<T>(job, job.near.codes, place, own.first(), own.terms(), thread);
    } else {
      const auto place = [&](std::int32_t column) { return x + column; };
      sum = sum_long_chunk<T>(job, static_cast<const std::int32_t*>(job.columns.data), place,
                              own.first(), own.terms(), thread);
    }
    const int chunks = (own.length - 1) / chunk + 1;
    if (own.length > chunk &&
        !add_if_last_segment(static_cast<T*>(job.sums) + (own_number - own.index),
                             job.added + own.row, own.index, chunks, sum, thread)) {
      continue;
    }
    if (thread == 0) write_row<T>(job, own.row, finish_parts(sum, conjugate::none));
  }
}

/// Returns a thread's lane of a chunk, all of whose terms are in flight at once.
template <class T>
__device__ dot_sum<T> sum_lane(const spmv_job& job, int first, int terms) {
  constexpr int count = rows_of_chunk, apart = static_cast<int>(lane_threads);
  const int thread = static_cast<int>(threadIdx.x), left = terms - thread;
  const nonzero_cursor<T, std::int32_t> from(job, first + thread);
  std::int32_t column[count];
  T value[count], element[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    column[k] = 0;
    load_if(k * apart < left, from.columns + k * apart, column[k]);
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    value[k] = 0;
    load_if(k * apart < left, from.values + k * apart, value[k]);
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    element[k] = 0;
    load_if(k * apart < left, static_cast<const T*>(job.x.data) + column[k], element[k]);
  }
  dot_sum<T> lane;
#pragma unroll
  for (int k = 0; k < count; ++k) lane = lane + term_of<T, T, T>(value[k], element[k]);
  return lane;
}

/// Returns the sum of a chunk's lanes, one per thread, in the first warp.
template <class T>
__device__ dot_sum<T> fold_lanes(const dot_sum<T>& lane) {
  __shared__ T upper[warp];
  const unsigned thread = threadIdx.x % warp;
  if (threadIdx.x >= warp) upper[thread] = lane.value;
  __syncthreads();
  if (threadIdx.x >= warp) return lane;
  return fold_across_threads<warp>(lane + dot_sum<T>{upper[thread]});
}

/// One row per block. A plan's are long, of `chunks_per_block` at most; without one, longer rows
/// are queued.
template <class T, bool is_planned>
__global__ void __launch_bounds__(lane_threads, lane_blocks_per_sm)
    spmv_whole_rows(const __grid_constant__ spmv_job job) {
  const std::int64_t row = blockIdx.x;
  if (!is_planned) wait_for_launch_before();
  const auto begin = static_cast<int>(job.offset(row));
  const int length = static_cast<int>(job.offset(row + 1)) - begin;
  if (is_planned) wait_for_launch_before();  // a plan's offsets were there before
  let_launch_after_start();
  if (!is_planned && length > chunks_per_block * chunk) {
    if (threadIdx.x < warp) queue_long_rows<warp>(job, true, row, length);
    return;
  }
  dot_sum<T> sum;
  if (!is_planned && length <= short_row) {
    if (threadIdx.x < warp) sum = sum_short_row<T>(job, begin, length);
  } else {
    warp_tree<dot_sum<T>> tree;
#pragma unroll 1
    for (int done = 0; done < length; done += chunk) {
      const dot_sum<T> part =
          fold_lanes(sum_lane<T>(job, begin + done, ::min(length - done, chunk)));
      if (threadIdx.x < warp) tree.add(part, static_cast<int>(threadIdx.x));
      __syncthreads();  // the upper lanes have been read
    }
    if (threadIdx.x < warp) sum = tree.total();
  }
  if (threadIdx.x == 0) write_row<T>(job, row, finish_parts(sum, conjugate::none));
}

/// Writes the columns' differences, and counts those that don't fit.
__global__ void __launch_bounds__(256) encode_near_columns(const near_job s) {
  wait_for_launch_before();
  const int thread = static_cast<int>(threadIdx.x % warp);
  unsigned wide = 0;
  for (std::int64_t number = first_index() / warp; number < s.groups;
       number += all_threads() / warp) {
    const row_chunk own = find_chunk(
        static_cast<int>(number), static_cast<int>(s.rows),
        [&](int row) { return static_cast<int>(offset(s, row)); }, thread);
    // Numbers without a chunk get one if offsets change.
    wide += encode_group(s, number, own.first(), own.exists ? own.terms() : 0, thread);
  }
  add_of_block(s, result_words::wide_rows, wide);
}

bool serves_long_rows(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  return call.is_plain() && !call.product.sums_values() && has_long_rows(a) && !a.row_ends;
}

void multiply_long_rows(const spmv_call& call, const near_columns& near) {
  const csr_operand& a = call.product.a;
  long_rows_job job(call.job);
  job.near = near;
  const std::size_t chunks = chunks_of(a);
  job.chunks = static_cast<int>(chunks);
  const call_memory memory(chunks * size_of(call.element()) + a.rows * sizeof *job.added,
                           call.current, call.stream, call.is_captured());
  job.sums = memory.data();
  job.added = reinterpret_cast<unsigned*>(static_cast<std::byte*>(job.sums) +
                                          chunks * size_of(call.element()));
  call.launch(&clear_added,
              {.blocks = blocks_of(a.rows, long_row_threads), .threads = long_row_threads}, job);
  with_special(call.element(), [&]<class T>() {
    call.launch(near.codes != nullptr ? &spmv_long_rows<T, true> : &spmv_long_rows<T, false>,
                {.blocks = long_row_blocks_per_sm<T> * multiprocessors(call.current.device()),
                 .threads = long_row_threads},
                job);
  });
}

class rows_of_many_chunks : public method {
 public:
  rows_of_many_chunks(const near_columns& near, std::size_t bytes) : near_(near), bytes_(bytes) {}

  std::string describe(const std::string& other) const override {
    return "long rows: chunks in warps" +
           std::string(near_.codes == nullptr ? "" : ", and columns of 16 bits") + ", in " +
           std::to_string(bytes_) + " bytes; otherwise " + other;
  }
  bool multiply(const spmv_call& call) const override {
    // Columns without promise may have another type by now.
    if (!serves_long_rows(call)) return false;
    multiply_long_rows(call, near_);
    return true;
  }

 private:
  near_columns near_;
  std::size_t bytes_;
};

launch_shape shape_of_whole_rows(const csr_operand& a) {
  return {.blocks = static_cast<unsigned>(a.rows), .threads = lane_threads};
}

class whole_rows : public method {
 public:
  std::string describe(const std::string& other) const override {
    return "whole rows: each row in a block of " + std::to_string(lane_threads) +
           " threads, since all are long; otherwise " + other;
  }
  bool multiply(const spmv_call& call) const override {
    // Columns without promise may have another type by now.
    if (!call.is_plain() || call.product.a.column_indices.element != type::int32) return false;
    with_special(call.element(), [&]<class T>() {
      call.launch(&spmv_whole_rows<T, true>, shape_of_whole_rows(call.product.a), call.job);
    });
    return true;
  }
};

}  // namespace

queue_launch launch_of_whole_rows(const spmv_call& call) {
  return with_special(call.element(), [&]<class T>() {
    return queue_launch{&spmv_whole_rows<T, false>, shape_of_whole_rows(call.product.a)};
  });
}

bool multiply_long_rows(const spmv_call& call) {
  if (!serves_long_rows(call)) return false;
  multiply_long_rows(call, {});
  return true;
}

std::unique_ptr<const method> find_long_rows(search& s) {
  const csr_operand& a = s.matrix;
  if (s.products.is_permuted || a.row_ends || !is_special(a.values.element) || !has_long_rows(a)) {
    return nullptr;
  }
  near_columns near;
  const std::size_t chunks = chunks_of(a), bytes = near_columns::bytes(chunks, a.nonzeros());
  void* const memory = s.knows_columns ? s.take(bytes) : nullptr;
  if (memory != nullptr) {
    near_job job(a, chunks, memory);
    const analysis_results found = s.run(&encode_near_columns, items_shape(chunks * warp), job);
    const bool fit = found[result_words::wide_rows] == 0;
    if (s.has_defect()) return nullptr;
    if (fit) near = job.written();
    if (!fit) s.memory().give_back(memory);
  }
  return std::make_unique<rows_of_many_chunks>(near, near.codes == nullptr ? 0 : bytes);
}

std::unique_ptr<const method> find_whole_rows(search& s) {
  if (s.products.is_permuted || !is_special(s.matrix.values.element) || !s.has_whole_rows()) {
    return nullptr;
  }
  return std::make_unique<whole_rows>();
}

}  // namespace tally::backends::cuda
