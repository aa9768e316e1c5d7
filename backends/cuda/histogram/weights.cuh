// Addition of weights to the sums of their bins: few in memory, many in tables of shared memory
// first.
//
// Promise: no addition rounds (backends/common/histogram/weights.hpp), so the samples' order is
// irrelevant.
#pragma once

#include "backends/common/histogram/weights.hpp"
#include "backends/cuda/histogram/counters.cuh"

namespace tally::backends::cuda {

template <class S>
struct weighted_samples {
  static constexpr slot none = nowhere;
  const histogram_weights_job& job;
  any_rule<S> rule{job};

  __device__ S operator[](std::int64_t i) const {
    return with_type<detail::those<real_types, compared_as<S>::template is>>(
        job.element, [&]<class X>() {
          return convert<S>(
              load_one(static_cast<const on_device_t<X>*>(job.x) + i * job.increment));
        });
  }
  /// Returns the bin of sample i, x, among the launch's, or `none`. The first bins' launch also
  /// counts samples outside.
  __device__ slot bin_of(std::int64_t i, S x) const {
    const slot s = rule(x);
    const auto channel = static_cast<slot>(job.channels == 1 ? 0 : i % job.channels);
    if (s >= job.bins) {
      if (job.first == 0 && job.places > job.bins) {
        hand_in<places_are_slots>(job, channel * job.places + s, 1);
      }
      return none;
    }
    const std::size_t bin = std::size_t{channel} * job.bins + s - job.first;
    return bin < job.some ? static_cast<slot>(bin) : none;  // also before the first
  }
};

template <class W>
__device__ W weight_at(const histogram_weights_job& job, std::int64_t i) {
  return static_cast<const W*>(job.weights)[i * job.weights_increment];
}

__device__ inline void add_to_word(std::int64_t* word, std::int64_t digit) {
  using known = unsigned long long;
  if (digit != 0) atomicAdd(reinterpret_cast<known*>(word), static_cast<known>(digit));
}

template <class Sum>
__device__ void add_to_words(const typename Sum::contribution& p, std::int64_t* words) {
  using known = unsigned long long;
  if (p.special_bit != 0) {
    atomicOr(reinterpret_cast<known*>(words + Sum::special), static_cast<known>(p.special_bit));
    return;
  }
#pragma unroll
  for (int d = 0; d < Sum::digits; ++d) add_to_word(words + p.word + d, p.digit[d]);
}

/// Addition of a warp's weights to limbs in memory.
///
/// Additions to one address are serialised. So once two successive weights of a thread begin at the
/// same limb, the warp's that begin at one limb are added up first, for the next `turns` weights.
/// One such limb is *held*: what begins there stays with the threads until the warp has none of it
/// and several of another (tuning/histogram.md: warp_weights).
template <class W>
class warp_weights {
 public:
  using sum = weight_sum<W>;
  using digits = std::int64_t[sum::digits][weight_threads];

  __device__ warp_weights(std::int64_t* words, digits& held) : words_(words), held_(held) {}

  /// Adds a weight per thread, unless `bin` is `nowhere`.
  __device__ void add(const typename sum::contribution& p, slot bin) {
    bool left = bin != nowhere;
    if (left && p.special_bit != 0) {
      add_to_words<sum>(p, words_ + std::size_t{bin} * sum::words);
      left = false;
    }
    const std::uint32_t begin = left ? bin * sum::words + static_cast<unsigned>(p.word) : nowhere;
    const bool holds = left && begin == held_begin_;
    if (holds) {
#pragma unroll
      for (int d = 0; d < sum::digits; ++d) held_[d][threadIdx.x] += p.digit[d];
      left = false;
    }
    if (__any_sync(whole_warp, left && begin == before_)) turns_ = turns;
    before_ = begin;
    if (turns_ > 0) {
      --turns_;
      left = combine(p, begin, left, __any_sync(whole_warp, holds));
    }
    if (!left) return;
#pragma unroll
    for (int d = 0; d < sum::digits; ++d) add_to_word(words_ + begin + d, p.digit[d]);
  }

  __device__ void hand_in() {
    if (held_begin_ == nowhere) return;
#pragma unroll
    for (int d = 0; d < sum::digits; ++d) {
      std::int64_t all = held_[d][threadIdx.x];
#pragma unroll
      for (unsigned i = 1; i < warp; i *= 2) all += __shfl_xor_sync(whole_warp, all, i);
      if (threadIdx.x % warp == 0) add_to_word(words_ + held_begin_ + d, all);
    }
  }

 private:
  static constexpr int turns = 16, min_to_hold = 4;

  /// Adds up weights that begin at the same limb; returns whether this thread's is left.
  __device__ bool combine(const typename sum::contribution& p, std::uint32_t begin, bool left,
                          bool holds) {
    // Held weights, and no weight, begin elsewhere.
    const unsigned same = __match_any_sync(whole_warp, left ? begin : nowhere);
    unsigned several = __ballot_sync(whole_warp, left && (same & (same - 1)) != 0);
    while (several != 0) {
      const std::uint32_t one =
          __shfl_sync(whole_warp, begin, __ffs(static_cast<int>(several)) - 1);
      const bool mine = begin == one;
      const unsigned all = __ballot_sync(whole_warp, mine);
      if (!holds && __popc(all) >= min_to_hold) {
        hand_in();
        held_begin_ = one;
#pragma unroll
        for (int d = 0; d < sum::digits; ++d) held_[d][threadIdx.x] = mine ? p.digit[d] : 0;
        holds = true;
      } else {
#pragma unroll
        for (int d = 0; d < sum::digits; ++d) {
          const std::int64_t digit = mine ? p.digit[d] : 0;
          const std::int64_t low = total(digit & 0xffff), high = total(digit >> 16);
          if (threadIdx.x % warp == 0) add_to_word(words_ + one + d, high * 0x10000 + low);
        }
      }
      left = left && !mine;
      several &= ~all;
    }
    return left;
  }
  static __device__ int total(std::int64_t of_thread) {
    return static_cast<int>(sum_of_warp(static_cast<std::uint32_t>(of_thread)));
  }

  std::int64_t* words_;
  digits& held_;
  std::uint32_t held_begin_ = nowhere;  // of a limb, among all in memory
  std::uint32_t before_ = nowhere;
  int turns_ = 0;
};

template <class S, class W>
__global__ void __launch_bounds__(weight_threads, max_blocks_at_once)
    add_weights(const __grid_constant__ histogram_weights_job job) {
  using sum = weight_sum<W>;
  __shared__ typename warp_weights<W>::digits held;
  warp_weights<W> weights(job.words, held);
  const weighted_samples<S> samples{job};
  wait_for_launch_before();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t own = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = own; i - threadIdx.x % warp < job.n; i += step) {
    const slot bin = i < job.n ? samples.bin_of(i, samples[i]) : samples.none;
    typename sum::contribution p{};
    if (bin != samples.none) p = sum::split(weight_at<W>(job, i));
    weights.add(p, bin);
  }
  weights.hand_in();
}

/// A few limbs of each bin's sum in shared memory: those that most weights reach. Others are added
/// to in memory.
///
/// A limb is two numbers of 32 bits; the lower has 16 bits after `settle`. A bin's numbers are
/// `bins` apart, so that adjacent bins are in different banks.
template <class W>
class weight_table {
 public:
  using sum = weight_sum<W>;
  static constexpr int words = weight_table_limbs<W>;
  /// Limbs where weights begin: two, so a limb takes 2^14 weights besides what it had.
  static constexpr unsigned starts = words - sum::digits + 1;
  static constexpr unsigned max_unsettled = 1u << 14;

  __device__ weight_table(const histogram_weights_job& job, char* shared)
      : job_(job),
        bins_(static_cast<unsigned>(job.some)),
        numbers_(reinterpret_cast<int*>(shared)) {
    for (unsigned i = threadIdx.x; i < 2 * words * bins_; i += blockDim.x) numbers_[i] = 0;
  }

  /// Chooses the table's limbs by one weight of each thread of the block.
  __device__ void choose_limbs(const typename sum::contribution& p) {
    __shared__ unsigned begin_at[sum::words + 1];
    for (unsigned i = threadIdx.x; i <= sum::words; i += blockDim.x) begin_at[i] = 0;
    __syncthreads();
    bool any = false;
#pragma unroll
    for (int d = 0; d < sum::digits; ++d) any |= p.digit[d] != 0;
    if (any) atomicAdd(begin_at + p.word, 1u);
    __syncthreads();
    std::uint32_t best = 0;  // number of weights, and limb
    for (unsigned w = threadIdx.x % warp; w <= static_cast<unsigned>(sum::limbs - words);
         w += warp) {
      best = ::max(best, (begin_at[w] + begin_at[w + 1]) << 8 | w);
    }
    first_ = static_cast<int>(largest_of_warp(best) & 0xff);
  }

  __device__ void add(const typename sum::contribution& p, slot bin) {
    const auto start = static_cast<unsigned>(p.word - first_);
    const bool fits = bin != nowhere && p.special_bit == 0 && start < starts;
    if (bin != nowhere && !fits) {
      add_to_words<sum>(p, job_.words + std::size_t{bin} * sum::words);
    }
    const slot fitting = fits ? bin : nowhere;
    int same = 0;
    __match_all_sync(whole_warp, fitting, &same);
    if (same != 0) {
      if (!fits) return;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        std::int64_t digit = 0;
#pragma unroll
        for (int d = 0; d < sum::digits; ++d) {
          if (static_cast<int>(start) + d == w) digit = p.digit[d];
        }
        const int low = total(lower(digit)), high = total(upper(digit));
        if (threadIdx.x % warp == 0) add_to(bin, w, low, high);
      }
    } else if (fits) {
#pragma unroll
      for (int d = 0; d < sum::digits; ++d) {
        add_to(bin, static_cast<int>(start) + d, lower(p.digit[d]), upper(p.digit[d]));
      }
    }
  }

  /// Makes room for as many weights again. Called by the whole block, between barriers.
  __device__ void settle() {
    for_each_word([&](int& low, int& high, std::int64_t* word) {
      high += low >> 16;
      low &= 0xffff;
      if (::abs(high) >= 1 << 29) {
        add_to_word(word, std::int64_t{high} * 0x10000);
        high = 0;
      }
    });
  }
  __device__ void hand_in_all() {
    for_each_word([&](int low, int high, std::int64_t* word) {
      add_to_word(word, std::int64_t{high} * 0x10000 + low);
    });
  }

 private:
  const histogram_weights_job& job_;
  unsigned bins_;
  int* numbers_;
  int first_ = 0;  ///< of a bin's first limb here

  static __device__ int lower(std::int64_t digit) { return static_cast<int>(digit & 0xffff); }
  static __device__ int upper(std::int64_t digit) { return static_cast<int>(digit >> 16); }
  static __device__ int total(int of_thread) {
    return static_cast<int>(sum_of_warp(static_cast<std::uint32_t>(of_thread)));
  }

  __device__ void add_to(slot bin, int word, int low, int high) {
    int* const at = numbers_ + 2 * word * bins_ + bin;
    if (low != 0) atomicAdd(at, low);
    if (high != 0) atomicAdd(at + bins_, high);
  }
  template <class F>
  __device__ void for_each_word(F f) {
    for (unsigned bin = threadIdx.x; bin < bins_; bin += blockDim.x) {
      for (int w = 0; w < words; ++w) {
        int* const at = numbers_ + 2 * w * bins_ + bin;
        f(at[0], at[bins_], job_.words + std::size_t{bin} * sum::words + first_ + w);
      }
    }
  }
};

template <class S, class W>
__global__ void __launch_bounds__(histogram_threads)
    add_weights_in_tables(const __grid_constant__ histogram_weights_job job) {
  using sum = weight_sum<W>;
  constexpr int in_flight = 4;
  constexpr int turns = weight_table<W>::max_unsettled / (histogram_threads * in_flight);
  extern __shared__ __align__(16) char shared[];
  const weighted_samples<S> samples{job};
  weight_table<W> table(job, shared);
  wait_for_launch_before();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x;  // next of the block
  const std::int64_t own = first + threadIdx.x;
  table.choose_limbs(sum::split(own < job.n ? weight_at<W>(job, own) : W()));
  __syncthreads();
  while (true) {
    for (int turn = 0; turn < turns && first < job.n; ++turn, first += in_flight * step) {
      W weight[in_flight];
      S sample[in_flight];
      const auto index = [&](int l) { return first + l * step + threadIdx.x; };
#pragma unroll
      for (int l = 0; l < in_flight; ++l) {
        if (index(l) >= job.n) continue;
        weight[l] = weight_at<W>(job, index(l));
        sample[l] = samples[index(l)];
      }
#pragma unroll
      for (int l = 0; l < in_flight; ++l) {
        const bool is_there = index(l) < job.n;
        table.add(sum::split(is_there ? weight[l] : W()),
                  is_there ? samples.bin_of(index(l), sample[l]) : samples.none);
      }
    }
    __syncthreads();
    if (first >= job.n) break;
    table.settle();
    __syncthreads();
  }
  table.hand_in_all();
}

}  // namespace tally::backends::cuda
