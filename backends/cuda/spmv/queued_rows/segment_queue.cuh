// Queue of long rows, in segments of one chunk each (job.hpp). One launch fills it, the next one
// sums the segments.
#pragma once

#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/common/split_rows.cuh"

#include <cstdint>

namespace tally::backends::cuda {

/// Returns a word of the queue for atomicAdd.
__device__ inline unsigned long long* queue_word(const spmv_job& job, unsigned word) {
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

/// Chunks of a queued row that one warp sums, at most (tuning/spmv.md: chunks_of_whole_row).
constexpr std::int64_t chunks_of_whole_row = 2;

/// Queues the long rows of a warp with `threads` threads each. Entries without room come from wrong
/// offsets.
template <int threads>
__device__ void queue_long_rows(const spmv_job& job, bool is_long, std::int64_t row,
                                std::int64_t length) {
  const segment_queue& queue = job.queue;
  const unsigned thread = threadIdx.x % warp;
  const bool owns = is_long && thread % threads == 0,
             has_one = owns && length <= chunks_of_whole_row * chunk;
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

/// x in global memory.
template <class T>
struct global_x {
  const T* data;
  std::int64_t increment;

  __device__ void load_if(bool wanted, std::int64_t column, T& to) const {
    cuda::load_if(wanted, data + column * increment, to);
  }
};

/// x in shared memory.
template <class T>
struct shared_x {
  unsigned data;

  __device__ void load_if(bool wanted, std::int64_t column, T& to) const {
    load_shared_if(wanted, data + static_cast<unsigned>(column) * static_cast<unsigned>(sizeof(T)),
                   to);
  }
};

/// Sums a few chunks in a warp.
template <class T, class X, class Column, class Elements>
__device__ dot_sum<T> sum_chunks(const spmv_job& job, const Elements& x, std::int64_t first,
                                 int terms, int thread) {
  constexpr int in_flight = 8, apart = static_cast<int>(warp), batch = in_flight * apart;
  static_assert(chunk % batch == 0);
  // Loads columns a round ahead, where registers suffice (tuning/spmv.md: ahead).
  constexpr bool has_x = !std::is_same_v<X, values_alone>;
  constexpr bool ahead = has_x && (sizeof(T) == 4 || std::is_same_v<Elements, shared_x<T>>);
  warp_tree<dot_sum<T>> tree;
  nonzero_cursor<T, Column> from(job, first + thread);
  int left = terms - thread;
  const auto wanted = [&](int k) { return k * apart < left; };
  Column column[in_flight] = {};
  const auto load_columns = [&] {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.columns + k * apart, column[k]);
  };
  if (ahead) load_columns();
#pragma unroll 1
  do {
    dot_sum<T> low, high;
#pragma unroll 1
    for (int batches = chunk / batch; batches > 0 && left + thread > 0; --batches) {
      if (!ahead && has_x) load_columns();
      T value[in_flight] = {}, element[in_flight] = {};
#pragma unroll
      for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.values + k * apart, value[k]);
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if constexpr (has_x) {
          x.load_if(wanted(k), column[k], element[k]);
        } else {
          element[k] = 1;
        }
      }
      from.move(batch);
      left -= batch;
      if (ahead) load_columns();
#pragma unroll
      for (int k = 0; k < in_flight; k += 2) {
        low = low + term_of<T, T, T>(value[k], element[k]);
        high = high + term_of<T, T, T>(value[k + 1], element[k + 1]);
      }
    }
    tree.add(fold_across_threads<apart>(low + high), thread);
  } while (left + thread > 0);
  return tree.total();
}

/// Adds the `sums` of a row's segments if the calling warp's comes last; returns whether it does.
/// `added`: sums present. Sum i is at `place_of(i)`.
template <class T, class Place>
__device__ bool add_if_last_segment(T* sums, unsigned* added, std::int64_t number,
                                    std::int64_t shares, dot_sum<T>& sum, int thread,
                                    const Place& place_of) {
  unsigned before = 0;
  if (thread == 0) {
    __stcg(sums + place_of(number), sum.value);
    __threadfence();
    before = atomicAdd(added, 1u);
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
      if (i < shares) others[k].value = __ldcg(sums + place_of(i));
    }
    tree.add(add_across_threads<warp>(add_within_thread(others), warp), thread);
  }
  sum = tree.total();
  return true;
}

/// The same where the sums are adjacent.
template <class T>
__device__ bool add_if_last_segment(T* sums, unsigned* added, std::int64_t number,
                                    std::int64_t shares, dot_sum<T>& sum, int thread) {
  return add_if_last_segment(sums, added, number, shares, sum, thread,
                             [](std::int64_t i) { return i; });
}

/// Whether more than an eighth of the terms are queued, about: then row blocks, which load long
/// rows in vain, and have few rows at a time, do not pay.
__device__ inline bool has_many_long_rows(const spmv_job& job) {
  const std::uint64_t rows = __ldcg(job.queue.words + segment_queue::row_word),
                      segments = __ldcg(job.queue.words + segment_queue::segment_word);
  return 8 * (rows * (2 * short_row) + segments * chunk) > static_cast<std::uint64_t>(job.nonzeros);
}

/// What is queued: segments of the longest rows first, then rows of a few chunks. Without words
/// each row is one of these.
struct queue_lengths {
  std::int64_t shares, all;

  __device__ explicit queue_lengths(const spmv_job& job) {
    const segment_queue& queue = job.queue;
    if (queue.words == nullptr) {
      shares = 0;
      all = job.rows;
      return;
    }
    const auto count = [&](unsigned word, std::uint64_t room) {
      return static_cast<std::int64_t>(::min(__ldcg(queue.words + word), room));
    };
    shares = count(segment_queue::segment_word, queue.segment_capacity);
    all = shares + count(segment_queue::row_word, queue.row_capacity);
  }
  __device__ std::uint64_t word_at(const spmv_job& job, std::int64_t place) const {
    if (place >= all) return queued_segment::none;
    if (job.queue.words == nullptr) return queued_segment{place, 0}.word();
    return __ldcg(place < shares ? job.queue.shares + place : job.queue.rows + (place - shares));
  }
};

/// Terms of what is queued at a place; none if the offsets are wrong.
struct queued_terms {
  std::int64_t row = 0, first = 0;
  int terms = 0;
  bool is_whole = false;                           ///< a row
  std::int64_t place = 0, number = 0, shares = 0;  ///< of a segment, in the queue and in its row

  __device__ queued_terms(const spmv_job& job, const queue_lengths& queue, std::int64_t at,
                          std::uint64_t word) {
    if (word == queued_segment::none) return;
    const auto share = queued_segment::of(word);
    const std::int64_t begin = job.offset(share.row), end = job.offset(share.row + 1);
    row = share.row;
    is_whole = at >= queue.shares;
    place = at;
    number = share.number;
    shares = (end - begin + chunk - 1) / chunk;
    first = begin + number * chunk;
    terms = static_cast<int>(
        ::min(end - first, (is_whole ? chunks_of_whole_row : std::int64_t{1}) * chunk));
  }
  /// Whether `sum`, a warp's, is the row's; adds the other segments' to it if it comes last.
  template <class T>
  __device__ bool completes_row(const spmv_job& job, dot_sum<T>& sum, int thread) const {
    const std::int64_t begin = place - number;
    return is_whole || add_if_last_segment(static_cast<T*>(job.queue.sums) + begin,
                                           job.queue.counts + begin, number, shares, sum, thread);
  }
};

/// Ends a block that took from the queue, as one of `blocks`. Called by all threads.
__device__ inline void end_queue(const spmv_job& job, const queue_lengths& queue, unsigned blocks) {
  if (job.queue.words == nullptr) return;
  __syncthreads();  // all threads have read the words
  if (threadIdx.x > 0) return;
  // The last block clears the words. If nothing is queued they are zeros, and no block of this
  // launch writes them.
  if (queue.all > 0 && atomicAdd(queue_word(job, segment_queue::ended_word), 1ull) == blocks - 1) {
    for (unsigned i = 0; i < segment_queue::word_count; ++i) job.queue.words[i] = 0;
  }
  // Each block counts itself: after the count is full, another stream may get the words.
  count_as_ended(job.ended);
}

/// Sums what is queued in the warps of a grid, the last launch of the product.
template <class T, class X, class Column, class Elements>
__device__ void sum_queue(const spmv_job& job, const Elements& elements) {
  const queue_lengths queue(job);
  const int thread = static_cast<int>(threadIdx.x % warp);
  // A block's warps take one segment after another, as they get ready.
  __shared__ int taken;
  if (threadIdx.x == 0) taken = static_cast<int>(blockDim.x / warp);
  __syncthreads();
  const auto place_of = [](int i) { return std::int64_t{i} * gridDim.x + blockIdx.x; };
  std::int64_t place = place_of(static_cast<int>(threadIdx.x / warp));
  std::uint64_t word = queue.word_at(job, place);
#pragma unroll 1
  while (place < queue.all) {
    const std::int64_t own_place = place;
    const std::uint64_t own_word = word;
    int after = 0;
    if (thread == 0) after = atomicAdd(&taken, 1);
    place = place_of(__shfl_sync(whole_warp, after, 0));
    word = queue.word_at(job, place);
    const queued_terms own(job, queue, own_place, own_word);
    if (own.terms <= 0) continue;
    dot_sum<T> sum = sum_chunks<T, X, Column>(job, elements, own.first, own.terms, thread);
    if (own.completes_row(job, sum, thread) && thread == 0) {
      write_row<T>(job, own.row, finish_parts(sum, conjugate::none));
    }
  }
  end_queue(job, queue, gridDim.x);
}

}  // namespace tally::backends::cuda
