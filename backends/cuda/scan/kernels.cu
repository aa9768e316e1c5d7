// The scans in one pass: a warp holds a chunk (two of floats) in registers.
//
// Sums of units are handed over as tagged words (words.hpp): each unit leaves its sum; the last one
// of 32 also that of these, the last of 32 of those ... A unit takes the sums of the units before
// it in its 32, of the 32s before in their 32, ... and adds them as the order's tree does. It waits
// for earlier units alone, and blocks start in order, so there is no deadlock (hand_over.cuh).
#include "backends/common/types/tables.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/scan/job.hpp"

#include <tally/numerics/order.hpp>

namespace tally::backends::cuda {
namespace {

/// Rows of lanes in a chunk.
constexpr int rows = static_cast<int>(order::chunk / order::lanes);

/// Threads of a chunk, and their columns of lanes: column q of thread t is lane t + q * threads.
template <class A>
constexpr int threads_per_chunk = static_cast<int>(warp) / scan_chunks_per_warp<A>;
template <class A>
constexpr int columns = static_cast<int>(order::lanes) / threads_per_chunk<A>;

template <class A>
__device__ void put_tagged(std::uint64_t* to, A value, std::uint32_t tag) {
  std::uint32_t payload[words_per<A>];
  memcpy(payload, &value, sizeof value);
  if constexpr (words_per<A> == 1) {
    store_word(to, make_word(payload[0], tag));
  } else {
    store_words(to, make_word(payload[0], tag), make_word(payload[1], tag));
  }
}

/// Returns whether the words have the tag; then `value` is theirs.
template <class A>
__device__ bool get_tagged(const std::uint64_t* from, A& value, std::uint32_t tag) {
  std::uint64_t word[2];
  if constexpr (words_per<A> == 1) {
    word[0] = word[1] = load_word(from);
  } else {
    load_words(from, word[0], word[1]);
  }
  const std::uint32_t payload[2] = {static_cast<std::uint32_t>(word[0]),
                                    static_cast<std::uint32_t>(word[1])};
  memcpy(&value, payload, sizeof value);
  return tag_of(word[0]) == tag && tag_of(word[1]) == tag;
}

/// Sums of units, or of 32^l units, and where they are.
template <class A>
struct scan_level {
  const scan_job<A>& job;
  std::uint32_t tag;
  std::uint64_t* words;
  int shift = 0;  ///< 5 l
  std::int64_t first, last;

  __device__ scan_level(const scan_job<A>& of, std::uint32_t of_launch)
      : job(of),
        tag(of_launch),
        words(of.words),
        first(of.first_unit),
        last(of.first_unit + of.units - 1) {}

  __device__ void next() {
    words += (last - first + 1) * words_per<A>;
    first >>= 5;
    last >>= 5;
    shift += 5;
  }
  __device__ void put(std::int64_t i, A sum) const {
    put_tagged(words + (i - first) * words_per<A>, sum, tag);
  }
  /// The sum of number i < first: that of the node that ends there, for the first such number that
  /// it contains, and 0 for the others, so that their sum is the node's.
  __device__ A before_first(std::int64_t i) const {
    const int k = __ffsll(i + 1) - 1;
    const bool ends_node = (first >> k << k) == i + 1 && (first >> k & 1) != 0;
    return ends_node ? job.nodes[__popcll(job.first_unit >> (shift + k + 1))] : A(0);
  }
  /// Sums of the 32 that contain i, thread t's in thread t; those from `count` on, which nobody
  /// waits for, are `other`.
  __device__ A take(std::int64_t i, unsigned count, unsigned thread, A other) const {
    const std::int64_t mine = (i & ~std::int64_t{31}) + thread;
    A sum = other;
    bool has = thread >= count;
    if (!has && mine < first) {
      sum = before_first(mine);
      has = true;
    }
    const std::uint64_t* const from = words + (has ? 0 : mine - first) * words_per<A>;
    while (__any_sync(whole_warp, !has)) {
      if (!has) has = get_tagged(from, sum, tag);
    }
    return sum;
  }
};

template <class A>
using chunk_terms = A[rows][columns<A>];

template <class A, class F>
__device__ void for_each_term(chunk_terms<A>& v, const F& f) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int q = 0; q < columns<A>; ++q) {
      f(v[r][q], r * static_cast<int>(order::lanes) + q * threads_per_chunk<A>);
    }
  }
}

/// Loads a chunk's terms from `first` on, of which `rest` exist, as lanes.
template <class A, bool contiguous>
__device__ void load_lanes(const scan_job<A>& job, std::int64_t first, std::int64_t rest,
                           unsigned thread, chunk_terms<A>& v) {
  using types =
      std::conditional_t<std::is_same_v<A, std::int64_t>, integer_types,
                         std::conditional_t<std::is_same_v<A, float>,
                                            type_list<float16, bfloat16, float>, real_types>>;
  const std::ptrdiff_t increment = contiguous ? 1 : job.x_increment;
  with_type<types>(job.x_type, [&]<class X>() {
    using T = on_device_t<X>;
    const T* const x = static_cast<const T*>(job.x) + (first + thread) * increment;
    if (rest >= static_cast<std::int64_t>(order::chunk)) {
      for_each_term<A>(v, [&](A& term, int i) { term = convert<A>(load_one(x + i * increment)); });
    } else {
      for_each_term<A>(v, [&](A& term, int i) {
        term = i + static_cast<int>(thread) < rest ? convert<A>(x[i * increment]) : A(0);
      });
    }
  });
#pragma unroll
  for (int q = 0; q < columns<A>; ++q) v[0][q] = plus(A(0), v[0][q]);
#pragma unroll
  for (int r = 1; r < rows; ++r) {
#pragma unroll
    for (int q = 0; q < columns<A>; ++q) v[r][q] = plus(v[r - 1][q], v[r][q]);
  }
}

/// Folds the last row of lanes; all threads of the chunk get its sum.
template <class A>
__device__ A fold_lanes(const chunk_terms<A>& v) {
  A sums[columns<A>];
#pragma unroll
  for (int q = 0; q < columns<A>; ++q) sums[q] = v[rows - 1][q];
#pragma unroll
  for (int half = columns<A> / 2; half > 0; half /= 2) {
#pragma unroll
    for (int q = 0; q < half; ++q) sums[q] = plus(sums[q], sums[q + half]);
  }
#pragma unroll
  for (int half = threads_per_chunk<A> / 2; half > 0; half /= 2) {
    sums[0] = plus(sums[0], __shfl_xor_sync(whole_warp, sums[0], half));
  }
  return sums[0];
}

/// Replaces lanes by the sums of the chunk's terms up to each (docs/numerics.md: inclusive_scan):
/// adds numbers shifted by 32, 16, ... 1.
template <class A>
__device__ void sum_prefixes(unsigned thread, chunk_terms<A>& v) {
  constexpr int threads = threads_per_chunk<A>, all = columns<A>;
#pragma unroll
  for (int shift = static_cast<int>(order::lanes) / 2; shift >= threads; shift /= 2) {
    const int by = shift / threads;
    A last[all] = {};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      A row[all];
#pragma unroll
      for (int q = 0; q < all; ++q) row[q] = v[r][q];
#pragma unroll
      for (int q = 0; q < all; ++q) {
        v[r][q] =
            plus(row[q], q >= by ? row[q >= by ? q - by : 0] : last[q >= by ? 0 : all + q - by]);
      }
#pragma unroll
      for (int q = 0; q < all; ++q) last[q] = row[q];
    }
  }
#pragma unroll
  for (int shift = threads / 2; shift > 0; shift /= 2) {
    const unsigned from = (thread - static_cast<unsigned>(shift)) % threads;
    const bool in_column = thread >= static_cast<unsigned>(shift);
    A last = A(0);
    for_each_term<A>(v, [&](A& sum, int) {
      const A turned = __shfl_sync(whole_warp, sum, static_cast<int>(from), threads);
      sum = plus(sum, in_column ? turned : last);
      last = turned;
    });
  }
}

template <class A>
__device__ void add_node(A node, chunk_terms<A>& v, A& before) {
  for_each_term<A>(v, [&](A& sum, int) { sum = plus(node, sum); });
  before = plus(node, before);
}

/// Writes sums, `before` that of all terms before the chunk.
template <class A, bool contiguous>
__device__ void store(const scan_job<A>& job, std::int64_t first, std::int64_t rest,
                      unsigned thread, A before, chunk_terms<A>& v) {
  if (rest <= 0) return;
  const std::ptrdiff_t increment = contiguous ? 1 : job.y_increment;
  const int later = job.exclusive ? 1 : 0;
  A* const y = job.y + (first + thread + later) * increment;
  const auto limit = rest < static_cast<std::int64_t>(order::chunk)
                         ? static_cast<int>(rest)
                         : static_cast<int>(order::chunk);
  const int end = limit - later - static_cast<int>(thread);
  if (later != 0 && thread == 0) job.y[first * increment] = canonical(before);
  if (limit == static_cast<int>(order::chunk) && later == 0) {
    for_each_term<A>(v, [&](A sum, int i) { __stcs(y + i * increment, canonical(sum)); });
  } else {
    for_each_term<A>(v, [&](A sum, int i) {
      if (i < end) __stcs(y + i * increment, canonical(sum));
    });
  }
}

template <class A, bool contiguous>
__global__ void __launch_bounds__(scan_warps* warp, scan_blocks)
    scan_chunks(const __grid_constant__ scan_job<A> job) {
  wait_for_launch_before();
  constexpr int chunks = scan_chunks_per_warp<A>;
  const unsigned thread = threadIdx.x % warp, in_chunk = thread % threads_per_chunk<A>;
  unsigned number = blockIdx.x * scan_warps + threadIdx.x / warp;
  if (number >= job.units) return;
  // Computed again after the terms are in registers, which leave none for these.
  const auto first_of = [&] {
    ptx::opaque(number);
    const std::int64_t chunk =
        std::int64_t{number} * chunks + thread / threads_per_chunk<A> - job.missing;
    return chunk * static_cast<std::int64_t>(order::chunk);
  };
  const std::uint32_t tag =
      job.tag != 0 ? job.tag : static_cast<std::uint32_t>(__ldcg(job.epoch)) + 1;

  A v[rows][columns<A>];
  const bool is_missing = chunks == 2 && number * chunks + thread / threads_per_chunk<A> <
                                             static_cast<unsigned>(job.missing);
  {
    const std::int64_t first = first_of();
    load_lanes<A, contiguous>(job, is_missing ? 0 : first, is_missing ? 0 : job.n - first, in_chunk,
                              v);
  }
  let_launch_after_start();
  A own = fold_lanes<A>(v), left = A(0);
  if constexpr (chunks == 2) {
    if (is_missing) own = job.of_missing;
    const A other = __shfl_xor_sync(whole_warp, own, threads_per_chunk<A>);
    if (thread >= threads_per_chunk<A>) left = other;
    own = plus(own, other);
  }
  {
    scan_level<A> level(job, tag);
    if (thread == 0) level.put(job.first_unit + number, own);
    for (std::int64_t i = job.first_unit + number; i % warp == warp - 1;) {
      own = level.take(i, warp - 1, thread, own);
#pragma unroll
      for (int k = 1; k < static_cast<int>(warp); k *= 2) {
        own = plus(own, __shfl_xor_sync(whole_warp, own, k));
      }
      level.next();
      i /= warp;
      if (thread == 0) level.put(i, own);
    }
  }

  sum_prefixes<A>(in_chunk, v);
  A before = A(0);
  if constexpr (chunks == 2) {
    if (thread >= threads_per_chunk<A>) add_node<A>(left, v, before);
  }
  scan_level<A> level(job, tag);
  for (std::int64_t i = job.first_unit + number; i != 0; i /= warp, level.next()) {
    const auto count = static_cast<unsigned>(i % warp);
    if (count == 0) continue;
    A node = level.take(i, count, thread, A(0));
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      if ((count >> k & 1) != 0) {
        const int last = static_cast<int>(count >> k << k) - 1;
        add_node<A>(__shfl_sync(whole_warp, node, last), v, before);
      }
      node = plus(node, __shfl_xor_sync(whole_warp, node, 1 << k));
    }
  }
  // All units have read it: this one has waited for what they leave.
  if (job.tag == 0 && number == job.units - 1 && thread == 0) __stcg(job.epoch, std::uint64_t{tag});
  if (!is_missing) {
    const std::int64_t first = first_of();
    store<A, contiguous>(job, first, job.n - first, in_chunk, before, v);
  }
  if (thread == 0) count_as_ended(job.ended);
}

template <class A>
const void* kernel_of(bool contiguous) {
  return contiguous ? reinterpret_cast<const void*>(&scan_chunks<A, true>)
                    : reinterpret_cast<const void*>(&scan_chunks<A, false>);
}

}  // namespace

const void* scan_kernel(type accumulator, bool contiguous) {
  return with_type<real_accumulator_types>(accumulator,
                                           [&]<class A>() { return kernel_of<A>(contiguous); });
}

}  // namespace tally::backends::cuda
