// Kernels of large matrices without a plan. The first launch has a few threads per row, by the mean
// length alone, or one where rows seem equally long, or a warp per segment of `segmented_sum` where
// these are long; it queues rows that are too long for that in segments of one chunk for the warps
// of the second.
//
// Promise: y has the bits of the row order. Offsets may be wrong (job.hpp).
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmv/common/split_rows.cuh"
#include "backends/cuda/spmv/csr/row_threads.cuh"
#include "backends/cuda/spmv/method.hpp"

#include <cstdint>

namespace tally::backends::cuda {
namespace {

/// Returns a word of the queue for atomicAdd.
__device__ unsigned long long* queue_word(const spmv_job& job, unsigned word) {
  return reinterpret_cast<unsigned long long*>(job.queue.words + word);
}

/// Row segment in one word.
struct queued_segment {
  static constexpr int number_bits = 24;  ///< more segments take 200 GB
  static constexpr std::uint64_t none = ~std::uint64_t{};

  std::int64_t row;
  std::int64_t number;

  __device__ std::uint64_t word() const {
    return static_cast<std::uint64_t>(row) << number_bits | static_cast<std::uint64_t>(number);
  }
  static __device__ queued_segment of(std::uint64_t word) {
    return {static_cast<std::int64_t>(word >> number_bits),
            static_cast<std::int64_t>(word & ((1u << number_bits) - 1))};
  }
};

/// Queues the long rows of a warp with `threads` threads each. Entries without room come from wrong
/// offsets.
template <int threads>
__device__ void queue_long_rows(const spmv_job& job, bool is_long, std::int64_t row,
                                std::int64_t length) {
  const segment_queue& queue = job.queue;
  const unsigned thread = threadIdx.x % warp;
  const bool owns = is_long && thread % threads == 0, has_one = owns && length <= chunk;
  const auto places = [&](unsigned word, std::int64_t wanted) {
    unsigned long long place = 0;
    if (thread == 0) {
      place = atomicAdd(queue_word(job, word), static_cast<unsigned long long>(wanted));
    }
    return static_cast<std::uint64_t>(__shfl_sync(whole_warp, place, 0));
  };
  const unsigned ones = __ballot_sync(whole_warp, has_one);
  if (ones != 0) {
    const auto before = static_cast<unsigned>(__popc(ones & ((1u << thread) - 1)));
    const std::uint64_t place = places(segment_queue::row_word, __popc(ones)) + before;
    if (has_one && place < queue.row_capacity) queue.rows[place] = queued_segment{row, 0}.word();
  }
  for (unsigned rows = __ballot_sync(whole_warp, owns && !has_one); rows != 0; rows &= rows - 1) {
    const int from = __ffs(static_cast<int>(rows)) - 1;
    const std::int64_t own = __shfl_sync(whole_warp, row, from);
    const std::int64_t terms = __shfl_sync(whole_warp, length, from);
    const std::int64_t shares = (terms + chunk - 1) / chunk;
    const std::uint64_t place = places(segment_queue::segment_word, shares);
    const bool fits = place + static_cast<std::uint64_t>(shares) <= queue.segment_capacity;
    if (thread == 0 && fits) queue.counts[place] = 0;
    for (std::int64_t i = thread; i < shares; i += warp) {
      const std::uint64_t at = place + static_cast<std::uint64_t>(i);
      if (at >= queue.segment_capacity) break;
      queue.shares[at] = fits ? queued_segment{own, i}.word() : queued_segment::none;
    }
  }
}

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

/// Sums a segment in a warp.
template <class T, class X, class Column>
__device__ dot_sum<T> sum_queued(const spmv_job& job, std::int64_t first, int terms, int thread) {
  constexpr int in_flight = 8, apart = static_cast<int>(warp);
  // Loads columns a round ahead; doubles lack registers for it (tuning/spmv.md: ahead).
  constexpr bool has_x = !std::is_same_v<X, values_alone>;
  constexpr bool ahead = sizeof(T) == 4 && has_x;
  dot_sum<T> low, high;
  nonzero_cursor<T, Column> from(job, first + thread);
  const T* const x = static_cast<const T*>(job.x.data);
  int left = terms - thread;
  const auto wanted = [&](int k) { return k * apart < left; };
  Column column[in_flight] = {};
  const auto load_columns = [&] {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.columns + k * apart, column[k]);
  };
  if (ahead) load_columns();
#pragma unroll 1
  while (left > 0) {
    if (!ahead && has_x) load_columns();
    T value[in_flight] = {}, element[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.values + k * apart, value[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if constexpr (has_x) {
        load_if(wanted(k), x + column[k] * job.x.increment, element[k]);
      } else {
        element[k] = 1;
      }
    }
    from.move(in_flight * apart);
    left -= in_flight * apart;
    if (ahead) load_columns();
#pragma unroll
    for (int k = 0; k < in_flight; k += 2) {
      low = low + term_of<T, T, T>(value[k], element[k]);
      high = high + term_of<T, T, T>(value[k + 1], element[k + 1]);
    }
  }
  return fold_across_threads<apart>(low + high);
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
    warp_tree<dot_sum<T>> tree;
    for (std::int64_t i = 0; i < length; i += chunk) {
      tree.add(sum_queued<T, values_alone, std::int32_t>(job, begin + i, within_chunk(length - i),
                                                         thread),
               thread);
    }
    sum = tree.total();
  }
  if (thread == 0) write_row<T>(job, row, finish_parts(sum, conjugate::none));
}

/// Adds the sums of a row's segments, from `first` on, if the calling warp's comes last; returns
/// whether it does.
template <class T>
__device__ bool add_if_last_segment(const spmv_job& job, std::int64_t first, std::int64_t number,
                                    std::int64_t shares, dot_sum<T>& sum, int thread) {
  T* const sums = static_cast<T*>(job.queue.sums) + first;
  unsigned before = 0;
  if (thread == 0) {
    __stcg(sums + number, sum.value);
    __threadfence();
    before = atomicAdd(job.queue.counts + first, 1u);
    __threadfence();
  }
  if (__shfl_sync(whole_warp, before, 0) + 1 != static_cast<unsigned>(shares)) return false;
  __syncwarp();  // all now see what thread 0 has seen
  // Sums per thread (tuning/spmv.md: add_if_last_segment).
  constexpr int own = 16;
  warp_tree<dot_sum<T>> tree;
  for (std::int64_t begin = 0; begin < shares; begin += own * warp) {
    dot_sum<T> others[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const std::int64_t i = begin + thread * own + k;
      if (i < shares) others[k].value = __ldcg(sums + i);
    }
    tree.add(add_across_threads<warp>(add_within_thread(others), warp), thread);
  }
  sum = tree.total();
  return true;
}

/// Minimum blocks per SM, which bounds registers (tuning/spmv.md).
template <class T, int in_flight>
constexpr unsigned even_rows_blocks_per_sm = in_flight > 8    ? 1
                                             : sizeof(T) == 8 ? 10
                                                              : 16;

/// Sums a tile of adjacent rows: in one thread each if none is longer than the mean suggests, with
/// values and columns by bulk copies (row_tiles.cu); else in a few.
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
#pragma unroll 1
    for (int turn = 0; turn < threads; ++turn) {
      multiply_row<T, T, threads>(job, first + (turn * rows_per_row_tile + threadIdx.x) / threads);
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

/// Segment taken from the queue.
struct taken_segment {
  std::int64_t row = 0, number = 0;
  std::int64_t begin = 0, length = 0;  ///< of the row

  taken_segment() = default;
  __device__ taken_segment(const spmv_job& job, std::uint64_t word) {
    if (word == queued_segment::none) return;
    row = queued_segment::of(word).row;
    number = queued_segment::of(word).number;
    begin = job.offset(row);
    length = job.offset(row + 1) - begin;
  }
};

template <class T, class X>
__global__ void __launch_bounds__(row_threads, 4)
    spmv_queued(const __grid_constant__ spmv_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const segment_queue& queue = job.queue;
  const int thread = static_cast<int>(threadIdx.x % warp);
  const auto count = [&](unsigned word, std::uint64_t room) {
    return static_cast<std::int64_t>(::min(__ldcg(queue.words + word), room));
  };
  // Segments of the longest rows first.
  const std::int64_t shares = count(segment_queue::segment_word, queue.segment_capacity);
  const std::int64_t all = shares + count(segment_queue::row_word, queue.row_capacity);
  const auto word_at = [&](std::int64_t place) {
    if (place >= all) return queued_segment::none;
    return __ldcg(place < shares ? queue.shares + place : queue.rows + (place - shares));
  };
  const std::int64_t apart = std::int64_t{gridDim.x} * (row_threads / warp);
  std::int64_t place = blockIdx.x + std::int64_t{gridDim.x} * (threadIdx.x / warp);
  taken_segment next(job, word_at(place));
  std::uint64_t word_after = word_at(place + apart);
#pragma unroll 1
  for (; place < all; place += apart) {
    const taken_segment share = next;
    next = taken_segment(job, word_after);
    word_after = word_at(place + 2 * apart);
    const std::int64_t first = share.begin + share.number * chunk;
    const int terms = within_chunk(share.length - share.number * chunk);
    if (terms == 0) continue;
    dot_sum<T> sum = job.columns.wide ? sum_queued<T, X, std::int64_t>(job, first, terms, thread)
                                      : sum_queued<T, X, std::int32_t>(job, first, terms, thread);
    if (place < shares && !add_if_last_segment(job, place - share.number, share.number,
                                               (share.length + chunk - 1) / chunk, sum, thread)) {
      continue;
    }
    if (thread == 0) write_row<T>(job, share.row, finish_parts(sum, conjugate::none));
  }
  __syncthreads();  // all threads have read the words
  if (threadIdx.x > 0) return;
  // The last block clears the words. If nothing is queued they are zeros, and no block of this
  // launch writes them.
  if (all > 0 && atomicAdd(queue_word(job, segment_queue::ended_word), 1ull) == gridDim.x - 1) {
    for (unsigned i = 0; i < segment_queue::word_count; ++i) queue.words[i] = 0;
  }
  // Each block counts itself: after the count is full, another stream may get the words.
  count_as_ended(job.ended);
}

/// Blocks per SM of the second launch.
constexpr unsigned queued_blocks_per_sm = 4;

/// Rows up to this length have 8 elements of x in flight per thread of such a tile, longer ones 16
/// (tuning/spmv.md).
constexpr std::size_t max_8_in_flight = 11;

/// First launch, and its kernel.
struct first_launch {
  void (*kernel)(spmv_job);
  launch_shape shape;
};

template <class T, class X>
first_launch launch_of_rows(const csr_operand& a) {
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
first_launch launch_of_even_rows(const csr_operand& a, std::size_t length) {
  const std::size_t terms = rows_per_row_tile * length;
  return {length <= max_8_in_flight ? &spmv_even_rows<T, 2, 8> : &spmv_even_rows<T, 4, 16>,
          {.blocks = blocks_of(a.rows, rows_per_row_tile),
           .threads = rows_per_row_tile,
           .shared_bytes = bytes_to_bring<T>(terms) + bytes_to_bring<std::int32_t>(terms)}};
}

template <class T, class X>
void multiply(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  spmv_job job = call.job;
  first_launch rows = launch_of_rows<T, X>(a);
  const std::size_t length = call.product.sums_values() ? 0 : even_length_unplanned(a);
  if (length > 0 && call.is_plain()) {
    const first_launch even = launch_of_even_rows<T>(a, length);
    if (call.has_room(even.shape.shared_bytes)) {
      rows = even;
      job.tile_terms = static_cast<std::int32_t>(rows_per_row_tile * length);
    }
  }
  segment_queue& queue = job.queue;
  queue.row_capacity = a.nonzeros() / row_order::short_row;
  queue.segment_capacity = 2 * (a.nonzeros() / order::chunk);
  const call_memory memory(
      queue.row_capacity * sizeof *queue.rows +
          queue.segment_capacity * (sizeof *queue.shares + sizeof(T) + sizeof *queue.counts),
      call.current, call.stream, call.is_captured());
  const scratch words = scratch_for(call.current, call.stream, call.is_captured(),
                                    segment_queue::word_count, words_left::to_next);
  queue.words = words.words;
  job.ended = words.ended;
  queue.rows = static_cast<std::uint64_t*>(memory.data());
  queue.shares = queue.rows + queue.row_capacity;
  queue.sums = queue.shares + queue.segment_capacity;
  queue.counts = reinterpret_cast<unsigned*>(static_cast<T*>(queue.sums) + queue.segment_capacity);
  call.launch(rows.kernel, rows.shape, job);
  const launch_shape queued{.blocks = queued_blocks_per_sm * multiprocessors(call.current.device()),
                            .threads = row_threads};
  try {
    call.launch(&spmv_queued<T, X>, queued, job);
  } catch (const error&) {  // nobody takes the queue
    (void)cudaMemsetAsync(queue.words, 0, segment_queue::word_count * sizeof *queue.words,
                          call.stream);
    throw;
  }
  words.queued(queued.blocks);
}

}  // namespace

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
