// Kernels of large matrices without a plan. By the mean length alone the first launch has, per row,
// one thread where rows seem equally long, else a few, or a block; per long segment of
// `segmented_sum` a warp. It queues rows that are too long for that for the warps of the last
// (segment_queue.cuh). Instead it may queue all long rows, and cut the others into row blocks
// (row_blocks.cu), which a launch of its own sums, or, if long rows are many, another.
//
// Promise: y has the bits of the row order. Offsets may be wrong (job.hpp).
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/csr/row_threads.cuh"
#include "backends/cuda/spmv/few_columns/few_columns.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/queued_rows/queued_rows.hpp"
#include "backends/cuda/spmv/queued_rows/segment_queue.cuh"
#include "backends/cuda/spmv/row_blocks/row_blocks.hpp"

#include <cstdint>

namespace tally::backends::cuda {
namespace {

/// Sums a row in `threads` threads, or queues it. X is T, or `values_alone`.
template <class T, class X, int threads>
__device__ void multiply_row(const spmv_job& job, std::int64_t row) {
  std::int64_t start = 0, length = 0;
  if (row < job.rows) {
    start = job.offset(row);
    length = job.offset(row + 1) - start;
  }
  const bool is_long = length > short_row;
  if (__any_sync(whole_warp, is_long)) queue_long_rows<threads>(job, is_long, row, length);
  // Wrong offsets may give negative lengths, not to be cut to 32 bits.
  const int count = is_long || length < 0 ? 0 : static_cast<int>(length);
  dot_sum<T> sum;
  if (job.columns.wide) {
    sum = sum_row<T, T, X, std::int64_t, threads>(job, start, count);
  } else {
    sum = sum_row<T, T, X, std::int32_t, threads>(job, start, count);
  }
  let_launch_after_start();
  if (row < job.rows && !is_long && threadIdx.x % threads == 0) {
    write_row<T>(job, row, finish_parts(sum, conjugate::none));
  }
}

template <class T, class X, int threads>
__global__ void __launch_bounds__(row_threads)
    spmv_rows_unplanned(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  multiply_row<T, X, threads>(
      job, std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads);
}

/// Chunks of a segment of values that a warp of the first launch sums by itself, at most
/// (tuning/spmv.md: chunks_per_warp).
constexpr std::int64_t chunks_per_warp = 4;

/// Sums a segment of values in a warp each, or queues it.
template <class T>
__global__ void __launch_bounds__(row_threads, 4)
    sum_long_segments(const __grid_constant__ spmv_job job) {
  constexpr int few = 8;  // threads of a short row, all groups of which sum the same one
  const int thread = static_cast<int>(threadIdx.x % warp);
  const std::int64_t row = std::int64_t{blockIdx.x} * (row_threads / warp) + threadIdx.x / warp;
  wait_for_launch_before();
  let_launch_after_start();
  if (row >= job.rows) return;
  const std::int64_t begin = job.offset(row), length = job.offset(row + 1) - begin;
  if (length > chunks_per_warp * chunk) return queue_long_rows<warp>(job, true, row, length);
  dot_sum<T> sum;
  if (length <= short_row) {
    const int count = length < 0 ? 0 : static_cast<int>(length);
    sum = sum_row<T, T, values_alone, std::int32_t, few>(job, begin, count);
  } else {
    sum = sum_chunks<T, values_alone, std::int32_t>(job, global_x<T>{}, begin,
                                                    static_cast<int>(length), thread);
  }
  if (thread == 0) write_row<T>(job, row, finish_parts(sum, conjugate::none));
}

/// Minimum blocks per SM, which bounds registers (tuning/spmv.md: even_rows_blocks_per_sm).
template <class T, int in_flight>
constexpr unsigned even_rows_blocks_per_sm =
    sizeof(T) == 8 ? (in_flight > 8 ? 1 : 10) : (in_flight > 8 ? 8 : 16);

/// Sums the short rows of a tile that are not as even as they seem, and queues the others. Adjacent
/// threads bring adjacent terms to shared memory, of as many rows at a time as have room. Pre: no
/// length is negative.
template <class T>
__device__ void sum_uneven_tile(const spmv_job& job, void* memory, std::int64_t row,
                                std::int64_t begin, std::int64_t end) {
  constexpr int rows = rows_per_row_tile, in_flight = 6;
  constexpr unsigned warps = rows_per_row_tile / warp;
  auto* const begins = static_cast<std::int64_t*>(memory);
  auto* const starts = reinterpret_cast<int*>(begins + rows + 2);
  const term_planes<T, 1> terms(starts + rows + 2);
  const std::size_t bytes =
      bytes_to_bring<T>(job.tile_terms) + bytes_to_bring<std::int32_t>(job.tile_terms);
  const auto room =
      static_cast<int>((bytes - (rows + 2) * (sizeof *begins + sizeof *starts)) / sizeof(T));
  __shared__ unsigned last_rows[warps];
  const int own = static_cast<int>(threadIdx.x);
  const bool is_long = end - begin > short_row;
  if (__any_sync(whole_warp, is_long)) queue_long_rows<1>(job, is_long, row, end - begin);
  let_launch_after_start();
  begins[own] = begin;
  if (own == rows - 1) begins[rows] = end;
  const std::int64_t first = row - own;
  __syncthreads();
#pragma unroll 1
  for (int done = 0; done < rows;) {
    const unsigned ends =
        __ballot_sync(whole_warp, own >= done && (is_long || end - begins[done] > room));
    if (threadIdx.x % warp == 0) last_rows[threadIdx.x / warp] = ends;
    __syncthreads();
    int next = rows;
#pragma unroll
    for (unsigned i = warps; i-- > 0;) {
      if (last_rows[i] != 0) {
        next = static_cast<int>(i * warp) + __ffs(static_cast<int>(last_rows[i])) - 1;
      }
    }
    const int count = static_cast<int>(begins[next] - begins[done]);
    if (own >= done && own < next) starts[own - done] = static_cast<int>(begin - begins[done]);
    if (own == 0) starts[next - done] = count;
    stage_streamed<T, rows, in_flight>(job, terms, begins[done], count);
    __syncthreads();
    sum_short_rows<rows>(
        staged_rows<T, 1>{terms, starts, next - done}, false, [&](int i, const dot_sum<T>& sum) {
          if (first + done + i < job.rows) {
            write_row<T>(job, first + done + i, finish_parts(sum, conjugate::none));
          }
        });
    done = next + (next < rows && begins[next + 1] - begins[next] > short_row);
    __syncthreads();
  }
}

/// Sums a tile of adjacent rows: in one thread each if none is longer than the mean suggests, with
/// values and columns by bulk copies (row_tiles.cu); else in `threads` each, or, if these are 0,
/// with terms side by side.
template <class T, int threads, int in_flight>
__global__ void __launch_bounds__(rows_per_row_tile, (even_rows_blocks_per_sm<T, in_flight>))
    spmv_even_rows(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::uint32_t begin;  // first term, lower 32 bits
  __shared__ int terms;
  __shared__ int value_shift, column_shift;  // of the first term in `values`, in `columns`
  const std::int64_t first = std::int64_t{blockIdx.x} * rows_per_row_tile,
                     row = first + threadIdx.x;
  const auto offset_of = [&](std::int64_t i) { return job.offset(i < job.rows ? i : job.rows); };
  wait_for_launch_before();
  const std::int64_t row_begin = offset_of(row), row_end = offset_of(row + 1);
  const std::int64_t tile_end = brings() ? offset_of(first + rows_per_row_tile) : 0;
  const std::int64_t tile_begin = brings() ? offset_of(first) : 0;
  T* const values = reinterpret_cast<T*>(memory);
  auto* const columns = reinterpret_cast<std::int32_t*>(reinterpret_cast<char*>(memory) +
                                                        bytes_to_bring<T>(job.tile_terms));
  if (threadIdx.x == 0) barrier.expect(2);
  const std::int64_t length = row_end - row_begin;
  // Uneven rows get no copies.
  if (__syncthreads_or(length < 0 ||
                       length > job.tile_terms / static_cast<int>(rows_per_row_tile))) {
    if constexpr (threads == 0) {
      if (__syncthreads_or(length < 0)) return;  // wrong offsets
      sum_uneven_tile<T>(job, memory, row, row_begin, row_end);
    } else {
#pragma unroll 1
      for (int turn = 0; turn < threads; ++turn) {
        multiply_row<T, T, threads>(job,
                                    first + (turn * rows_per_row_tile + threadIdx.x) / threads);
      }
    }
    return;
  }
  if (brings()) {
    const std::int64_t count =
        ::max(::min(tile_end - tile_begin, std::int64_t{job.tile_terms}), std::int64_t{0});
    const std::int64_t first_value = bring(barrier, values, static_cast<const T*>(job.values.data),
                                           job.nonzeros, tile_begin, tile_begin + count);
    const std::int64_t first_column =
        bring(barrier, columns, static_cast<const std::int32_t*>(job.columns.data), job.nonzeros,
              tile_begin, tile_begin + count);
    if (threadIdx.x == 0) {
      begin = static_cast<std::uint32_t>(tile_begin);
      terms = static_cast<int>(count);
      value_shift = static_cast<int>(tile_begin - first_value);
      column_shift = static_cast<int>(tile_begin - first_column);
    }
  }
  __syncthreads();
  let_launch_after_start();
  const auto in_tile = [&](std::int64_t at) {
    return static_cast<int>(
        ::min(static_cast<std::uint32_t>(at) - begin, static_cast<std::uint32_t>(terms)));
  };
  const int start = in_tile(row_begin), count = in_tile(row_end) - start;
  const T* const value = values + start + value_shift;
  const std::int32_t* const column = columns + start + column_shift;
  const T* x = static_cast<const T*>(job.x.data);
  dot_sum<T> lanes[row_order::lanes];
  T element[in_flight];
  const auto load = [&](int i) {  // elements of x from term i on
    std::int32_t place[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k < count) place[k] = column[i + k];
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      element[k] = 0;
      load_if(i + k < count, x + place[k], element[k]);
    }
  };
  const auto add = [&](int i) {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      dot_sum<T>& lane = lanes[k % row_order::lanes];
      if (i + k < count) lane = lane + term_of<T, T, T>(value[i + k], element[k]);
    }
  };
  barrier.wait();
  if constexpr (in_flight > 8) {
    // Faster for long rows, with more registers (tuning/spmv.md: spmv_even_rows).
    ptx::opaque(x);
    load(0);
    for (int i = 0;;) {
      add(i);
      i += in_flight;
      if (i >= count) break;
      load(i);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < count; i += in_flight) {
      load(i);
      add(i);
    }
  }
  if (row < job.rows) {
    write_row<T>(job, row, finish_parts(fold_within_thread(lanes), conjugate::none));
  }
}

/// Blocks per SM of the kernel below.
constexpr unsigned all_rows_blocks_per_sm = 6;

/// Sums all short rows after spmv_row_blocks, if that has left them.
template <class T>
__global__ void __launch_bounds__(row_threads, all_rows_blocks_per_sm)
    spmv_rows_if_many_are_long(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  if (!has_many_long_rows(job)) return;
  constexpr int threads = 8;
  const std::int64_t at_once = std::int64_t{gridDim.x} * (row_threads / threads);
  std::int64_t row = std::int64_t{blockIdx.x} * (row_threads / threads) + threadIdx.x / threads;
#pragma unroll 1
  for (std::int64_t done = 0; done < job.rows; done += at_once, row += at_once) {
    const bool exists = row < job.rows;
    const std::int64_t start = exists ? job.offset(row) : 0;
    const std::int64_t length = exists ? job.offset(row + 1) - start : 0;
    const bool is_long = length > short_row;
    const int count = is_long || length < 0 ? 0 : static_cast<int>(length);
    const dot_sum<T> sum = sum_row<T, T, T, std::int32_t, threads>(job, start, count);
    if (exists && !is_long && threadIdx.x % threads == 0) {
      write_row<T>(job, row, finish_parts(sum, conjugate::none));
    }
  }
}

/// Blocks per SM of the last launch, which bound registers: columns are loaded ahead.
template <class X>
constexpr unsigned queued_blocks_per_sm = std::is_same_v<X, values_alone> ? 4 : 3;

template <class T, class X>
__global__ void __launch_bounds__(row_threads, queued_blocks_per_sm<X>)
    spmv_queued(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const global_x<T> x{static_cast<const T*>(job.x.data), job.x.increment};
  if (job.columns.wide) {
    sum_queue<T, X, std::int64_t>(job, x);
  } else {
    sum_queue<T, X, std::int32_t>(job, x);
  }
}

/// Rows up to this length have 8 elements of x in flight per thread of such a tile, longer ones 16
/// (tuning/spmv.md).
constexpr std::size_t max_8_in_flight = 11;

/// Minimum length of rows that only seem even for terms side by side, which have room for a row
/// (tuning/spmv.md: min_side_by_side).
constexpr std::size_t min_side_by_side = 16;

template <class T, class X>
queue_launch launch_of_rows(const csr_operand& a) {
  if constexpr (std::is_same_v<X, values_alone>) {
    if (a.nonzeros() / row_order::short_row > a.rows) {
      return {&sum_long_segments<T>,
              {.blocks = blocks_of(a.rows, row_threads / warp), .threads = row_threads}};
    }
  }
  const unsigned threads = threads_per_row_unplanned(a.rows, a.nonzeros());
  return {threads == 2   ? &spmv_rows_unplanned<T, X, 2>
          : threads == 4 ? &spmv_rows_unplanned<T, X, 4>
                         : &spmv_rows_unplanned<T, X, 8>,
          {.blocks = blocks_of(a.rows, row_threads / threads), .threads = row_threads}};
}

/// Returns the launch for rows that seem to have `length` terms.
template <class T>
queue_launch launch_of_even_rows(const csr_operand& a, std::size_t length) {
  const std::size_t terms = rows_per_row_tile * length;
  return {length <= max_8_in_flight   ? &spmv_even_rows<T, 2, 8>
          : length < min_side_by_side ? &spmv_even_rows<T, 4, 16>
                                      : &spmv_even_rows<T, 0, 16>,
          {.blocks = blocks_of(a.rows, rows_per_row_tile),
           .threads = rows_per_row_tile,
           .shared_bytes = bytes_to_bring<T>(terms) + bytes_to_bring<std::int32_t>(terms)}};
}

/// `codes`: a plan's columns of 16 bits, or null.
template <class T, class X>
void multiply(const spmv_call& call, const std::uint16_t* codes = nullptr) {
  const csr_operand& a = call.product.a;
  spmv_job job = call.job;
  queue_launch rows = launch_of_rows<T, X>(a);
  const std::size_t length = call.product.sums_values() ? 0 : even_length_unplanned(a);
  if (length > 0 && call.is_plain()) {
    const queue_launch even = launch_of_even_rows<T>(a, length);
    if (call.has_room(even.shape.shared_bytes)) {
      rows = even;
      job.tile_terms = static_cast<std::int32_t>(rows_per_row_tile * length);
    }
  }
  const bool has_blocks =
      std::is_same_v<X, T> && length == 0 && has_row_blocks_unplanned(a) && serves_row_blocks(call);
  const std::size_t blocks = has_blocks ? row_blocks_of(a) : 0;
  const unsigned processors = multiprocessors(call.current.device());
  queue_launch last{&spmv_queued<T, X>,
                    {.blocks = queued_blocks_per_sm<X> * processors, .threads = row_threads}};
  if constexpr (std::is_same_v<X, T>) {
    if (codes == nullptr && call.is_plain() && has_whole_rows_unplanned(a)) {
      rows = launch_of_whole_rows(call);
    } else if (keeps_few_columns(call)) {
      last = launch_of_few_columns(call, codes);
    }
  }
  segment_queue& queue = job.queue;
  queue.row_capacity = a.nonzeros() / row_order::short_row;
  queue.segment_capacity = 2 * (a.nonzeros() / order::chunk);
  const call_memory memory(
      blocks * sizeof(row_block) + queue.row_capacity * sizeof *queue.rows +
          queue.segment_capacity * (sizeof *queue.shares + sizeof(T) + sizeof *queue.counts),
      call.current, call.stream, call.is_captured());
  const scratch words = scratch_for(call.current, call.stream, call.is_captured(),
                                    segment_queue::word_count, words_left::to_next);
  queue.words = words.words;
  job.ended = words.ended;
  auto* const row_blocks = static_cast<row_block*>(memory.data());
  queue.rows = reinterpret_cast<std::uint64_t*>(row_blocks + blocks);
  queue.shares = queue.rows + queue.row_capacity;
  queue.sums = queue.shares + queue.segment_capacity;
  queue.counts = reinterpret_cast<unsigned*>(static_cast<T*>(queue.sums) + queue.segment_capacity);
  if (has_blocks) {
    cut_row_blocks(call, job, row_blocks);
  } else {
    call.launch(rows.kernel, rows.shape, job);
  }
  try {
    if (has_blocks) {
      multiply_row_blocks(call, job, row_blocks);
      call.launch(&spmv_rows_if_many_are_long<T>,
                  {.blocks = all_rows_blocks_per_sm * processors, .threads = row_threads}, job);
    }
    if (codes != nullptr) job.columns.data = codes;
    call.launch(last.kernel, last.shape, job);
  } catch (const error&) {  // nobody takes the queue
    (void)cudaMemsetAsync(queue.words, 0, segment_queue::word_count * sizeof *queue.words,
                          call.stream);
    throw;
  }
  words.queued(last.shape.blocks);
}

}  // namespace

void multiply_queued_rows(const spmv_call& call, const std::uint16_t* codes) {
  with_special(call.element(), [&]<class T>() { multiply<T, T>(call, codes); });
}

bool multiply_queued_rows(const spmv_call& call) {
  const type element = call.element();
  if (!is_special(element) || call.product.x.element != element ||
      !has_rows_unplanned(call.product.a.nonzeros())) {
    return false;
  }
  with_special(element, [&]<class T>() {
    call.product.sums_values() ? multiply<T, values_alone>(call) : multiply<T, T>(call);
  });
  return true;
}

}  // namespace tally::backends::cuda
