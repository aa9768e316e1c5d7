// Addition of weights to digits of their bins' sums: in shared memory if there are few bins.
//
// Promise: no addition rounds. Weights outside the window are strays (job.hpp), which are added to
// rows of all limbs (backends/common/histogram/weights.hpp). So the samples' order is irrelevant.
#pragma once

#include "backends/common/histogram/weights.hpp"
#include "backends/cuda/histogram/counters.cuh"
#include "backends/cuda/histogram/weight_sums.cuh"

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
  /// Returns the bin of sample i, x, among [first, first + some), or `none`.
  __device__ slot bin_of(std::int64_t i, S x, std::size_t first, std::size_t some,
                         bool counts_outside) const {
    const slot s = rule(x);
    const auto channel = static_cast<slot>(job.channels == 1 ? 0 : i % job.channels);
    if (s >= job.bins) {
      if (counts_outside && job.places > job.bins) {
        hand_in<places_are_slots>(job, channel * job.places + s, 1);
      }
      return none;
    }
    const std::size_t bin = std::size_t{channel} * job.bins + s - first;
    return bin < some ? static_cast<slot>(bin) : none;  // also before the first
  }
  __device__ slot bin_of(std::int64_t i, S x) const {
    return bin_of(i, x, job.first, job.some, job.counts_outside);
  }
};

template <class W>
__device__ W weight_at(const histogram_weights_job& job, std::int64_t i) {
  return load_one(static_cast<const W*>(job.weights) + i * job.weights_increment);
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

/// Addition of a warp's weights to rows of limbs in memory. A bin is a row here.
///
/// Additions to one address are serialised. So once two successive weights of a thread begin at the
/// same limb, the warp's that begin at one limb are added up first, for the next `turns` weights.
/// One such limb is *held*: what begins there stays with the threads until the warp has none of it
/// and several of another (tuning/histogram.md: warp_weights).
template <class W, unsigned threads>
class warp_weights {
 public:
  using sum = weight_sum<W>;
  using digits = std::int64_t[sum::digits][threads];

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

/// A weight's digits, 0 unless the window holds it.
struct cut_weight {
  std::int64_t digit[2];
  bool is_stray;
};

/// Rounds to multiples of a digit's unit by adding its bias, from the upper digit on.
__device__ inline cut_weight cut(const weight_window& window, double weight) {
  cut_weight c{};
  double rest = weight;
  const auto cut_one = [&](int d) {
    const double biased = rest + window.bias[d];
    c.digit[d] = __double_as_longlong(biased) - __double_as_longlong(window.bias[d]);
    rest -= biased - window.bias[d];
  };
  if (window.digits == 2) cut_one(1);
  cut_one(0);
  c.is_stray = !(::fabs(weight) < window.end) || rest != 0;
  if (c.is_stray) c.digit[0] = c.digit[1] = 0;
  return c;
}

/// Finds or makes the row of a bin, or returns `nowhere` if there is none left nearby.
__device__ inline slot row_of(const histogram_weights_job& job, slot bin) {
  constexpr int tries = 64;
  if (load_one(&job.state->full) != 0) return nowhere;
  const std::uint32_t mask = (1u << job.row_bits) - 1;
  const bool has_all = job.some <= std::size_t{mask} + 1;
  std::uint32_t row = has_all ? bin : bin * 0x9e3779b1u >> (32 - job.row_bits);
  for (int i = 0; i < tries; ++i, row = (row + 1) & mask) {
    std::uint32_t owner = load_one(job.owners + row);
    if (owner == 0) owner = atomicCAS(job.owners + row, 0u, bin + 1);
    if (owner != 0 && owner != bin + 1) continue;
    const std::uint32_t bit = 1u << bin % 32;
    if ((load_one(job.strayed + bin / 32) & bit) == 0) atomicOr(job.strayed + bin / 32, bit);
    return row;
  }
  job.state->full = 1;
  return nowhere;
}

/// Sum of a warp's digits, of at most 2^45 each.
__device__ inline std::int64_t sum_of_digits(std::int64_t digit) {
  constexpr int lower_bits = 24;
  const std::uint32_t low = sum_of_warp(static_cast<std::uint32_t>(digit) & 0xffffff);
  const std::uint32_t high = sum_of_warp(static_cast<std::uint32_t>(digit >> lower_bits));
  return std::int64_t{static_cast<std::int32_t>(high)} * (1 << lower_bits) + low;
}

/// Digits in shared memory, which has no additions of 64 bits: a digit is two halves. Those of
/// adjacent bins are adjacent.
struct shared_digits {
  std::uint32_t* halves;
  unsigned bins;

  __device__ void clear(int digits) {
    for (unsigned i = threadIdx.x; i < 2 * digits * bins; i += blockDim.x) halves[i] = 0;
  }
  __device__ void add(int d, slot bin, std::int64_t digit) {
    std::uint32_t* const at = halves + 2 * d * bins + bin;
    const auto low = static_cast<std::uint32_t>(digit);
    auto high = static_cast<std::uint32_t>(digit >> 32);
    if (low != 0) high += atomicAdd(at, low) > ~low;  // a carry
    if (high != 0) atomicAdd(at + bins, high);
  }
  __device__ std::int64_t digit(int d, slot bin) const {
    const std::uint32_t* const at = halves + 2 * d * bins + bin;
    return static_cast<std::int64_t>(std::uint64_t{at[bins]} << 32 | at[0]);
  }
};

/// Digits in memory. What comes up several times in a warp is added up first, in shared memory if
/// the bin comes first to one of its few places.
class digits_in_memory {
 public:
  __device__ digits_in_memory(const histogram_weights_job& job, const weight_window& window, char*)
      : digits_(job.digits), two_(window.digits == 2) {
    __shared__ std::uint32_t halves[4 * places], owners[places];
    shared_ = {halves, places};
    owners_ = owners;
    shared_.clear(2);
    for (unsigned i = threadIdx.x; i < places; i += blockDim.x) owners_[i] = nowhere;
    __syncthreads();
  }

  __device__ void add(slot bin, const cut_weight& c) {
    std::int64_t digit[2] = {c.digit[0], c.digit[1]};
    const unsigned same = __match_any_sync(whole_warp, bin);
    unsigned several = __ballot_sync(whole_warp, bin != nowhere && (same & (same - 1)) != 0);
    if (several != 0) {
      turns_ = turns;
      do {
        const int leader = __ffs(static_cast<int>(several)) - 1;
        const bool mine = bin == __shfl_sync(whole_warp, bin, leader);
        const std::int64_t lower = sum_of_digits(mine ? digit[0] : 0);
        const std::int64_t upper = two_ ? sum_of_digits(mine ? digit[1] : 0) : 0;
        several &= ~__ballot_sync(whole_warp, mine);
        if (static_cast<int>(threadIdx.x % warp) == leader) {
          digit[0] = lower;
          digit[1] = upper;
          atomicCAS(owners_ + bin % places, nowhere, bin);
        } else if (mine) {
          bin = nowhere;
        }
      } while (several != 0);
    }
    if (turns_ > 0) {
      --turns_;
      if (bin != nowhere && owners_[bin % places] == bin) {
        shared_.add(0, bin % places, digit[0]);
        if (two_) shared_.add(1, bin % places, digit[1]);
        bin = nowhere;
      }
      __syncwarp();
    }
    put(bin, digit);
  }
  /// Called by the whole block.
  __device__ void hand_in() {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < places; i += blockDim.x) {
      if (owners_[i] == nowhere) continue;
      std::int64_t* const to = digits_ + (two_ ? 2 : 1) * std::size_t{owners_[i]};
      add_to_word(to, shared_.digit(0, i));
      if (two_) add_to_word(to + 1, shared_.digit(1, i));
    }
  }

 private:
  static constexpr slot places = 256;
  /// Weights of a warp for which shared memory is looked up after some came up together.
  static constexpr int turns = 16;

  /// Adjacent threads add the two digits of one weight, so that they are one transaction of the L2
  /// cache; then those of the other.
  __device__ void put(slot bin, const std::int64_t (&digit)[2]) {
    if (!two_) {
      if (bin != nowhere) add_to_word(digits_ + bin, digit[0]);
      return;
    }
    const unsigned part = threadIdx.x % 2;
    const slot other = __shfl_xor_sync(whole_warp, bin, 1);
    const std::int64_t own = part == 0 ? digit[0] : digit[1];
    const std::int64_t received = __shfl_xor_sync(whole_warp, part == 0 ? digit[1] : digit[0], 1);
    const slot first = part == 0 ? bin : other, second = part == 0 ? other : bin;
    if (first != nowhere) {
      add_to_word(digits_ + 2 * std::size_t{first} + part, part == 0 ? own : received);
    }
    if (second != nowhere) {
      add_to_word(digits_ + 2 * std::size_t{second} + part, part == 0 ? received : own);
    }
  }

  std::int64_t* digits_;
  bool two_;
  shared_digits shared_;
  std::uint32_t* owners_;
  int turns_ = 0;
};

/// Digits of all bins in shared memory.
class digits_in_table {
 public:
  __device__ digits_in_table(const histogram_weights_job& job, const weight_window& window,
                             char* shared)
      : to_(job.digits),
        digits_(window.digits),
        table_{reinterpret_cast<std::uint32_t*>(shared), static_cast<unsigned>(job.some)} {
    table_.clear(digits_);
    __syncthreads();
  }

  __device__ void add(slot bin, const cut_weight& c) {
    int same = 0;
    __match_all_sync(whole_warp, bin, &same);
    if (bin == nowhere) return;
    const bool adds = same == 0 || threadIdx.x % warp == 0;
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      if (d >= digits_) break;
      const std::int64_t digit = same == 0 ? c.digit[d] : sum_of_digits(c.digit[d]);
      if (adds) table_.add(d, bin, digit);
    }
  }
  /// Called by the whole block.
  __device__ void hand_in() {
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < table_.bins; bin += blockDim.x) {
      for (int d = 0; d < digits_; ++d) {
        add_to_word(to_ + static_cast<std::size_t>(digits_) * bin + d, table_.digit(d, bin));
      }
    }
  }

 private:
  std::int64_t* to_;
  int digits_;
  shared_digits table_;
};

/// Calls f(i, sample, weight) for each sample of the warp's threads, together; i is n or more, and
/// the weight 0, where there is none. Several loads are in flight; f's code, which is long, is in
/// one place.
template <class S, class W, class F>
__device__ void for_each_weight(const histogram_weights_job& job,
                                const weighted_samples<S>& samples, F f) {
  constexpr int in_flight = 4;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x; first < job.n;
       first += in_flight * step) {
    W weight[in_flight];
    S sample[in_flight];
    const auto index = [&](int l) { return first + l * step + threadIdx.x; };
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      weight[l] = W();
      if (index(l) >= job.n) continue;
      weight[l] = weight_at<W>(job, index(l));
      sample[l] = samples[index(l)];
    }
#pragma unroll 1
    for (int l = 0; l < in_flight; ++l) {
      f(index(l), sample[0], weight[0]);
#pragma unroll
      for (int i = 1; i < in_flight; ++i) {
        weight[i - 1] = weight[i];
        sample[i - 1] = sample[i];
      }
    }
  }
}

template <class S, class W, class Digits, unsigned threads>
__device__ void add_weights_to(const histogram_weights_job& job, char* shared) {
  using sum = weight_sum<W>;
  __shared__ typename warp_weights<W, threads>::digits held;
  wait_for_launch_before();
  const bool only_counts = load_one(&job.state->full) != 0;  // samples outside
  if (only_counts && job.places == job.bins) return;
  const weighted_samples<S> samples{job};
  const weight_window window = window_of(job);
  warp_weights<W, threads> strays(job.words, held);
  Digits digits(job, window, shared);
  for_each_weight<S, W>(job, samples, [&](std::int64_t i, S sample, W weight) {
    slot bin = i < job.n ? samples.bin_of(i, sample) : samples.none;
    if (only_counts) return;
    const cut_weight c = cut(window, static_cast<double>(weight));
    const bool is_stray = c.is_stray && bin != nowhere;
    if (__any_sync(whole_warp, is_stray)) {
      strays.add(sum::split(weight), is_stray ? row_of(job, bin) : nowhere);
    }
    digits.add(is_stray ? nowhere : bin, c);
  });
  strays.hand_in();
  digits.hand_in();
}

template <class S, class W>
__global__ void __launch_bounds__(weight_threads, max_blocks_at_once / 2)
    add_weights(const __grid_constant__ histogram_weights_job job) {
  add_weights_to<S, W, digits_in_memory, weight_threads>(job, nullptr);
}

template <class S, class W>
__global__ void __launch_bounds__(histogram_threads)
    add_weights_in_tables(const __grid_constant__ histogram_weights_job job) {
  extern __shared__ __align__(16) char shared[];
  add_weights_to<S, W, digits_in_table, histogram_threads>(job, shared);
}

// --- All limbs -----------------------------------------------------------------------------------

/// Waits for the other blocks of a cooperative launch, at its barrier `number`, from 1.
__device__ inline void wait_for_blocks(std::uint32_t* arrived, unsigned number) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile std::uint32_t*>(arrived) < number * gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

/// Sums from all limbs, of as many bins at a time as rows fit the memory.
template <class S, class W>
__global__ void __launch_bounds__(weight_threads, blocks_of_all_limbs)
    add_to_all_limbs(const __grid_constant__ histogram_weights_job job) {
  using sum = weight_sum<W>;
  __shared__ typename warp_weights<W, weight_threads>::digits held;
  wait_for_launch_before();
  if (load_one(&job.state->full) == 0) return;
  const weighted_samples<S> samples{job};
  const std::size_t own = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t at_once = job.room / (sum::words * sizeof(std::int64_t));
  unsigned barriers = 0;
  for (std::size_t done = 0; done < job.some; done += at_once) {
    const std::size_t some = ::min(at_once, job.some - done);
    for (std::size_t i = own; i < some * sum::words; i += step) job.words[i] = 0;
    wait_for_blocks(&job.state->arrived, ++barriers);
    warp_weights<W, weight_threads> weights(job.words, held);
    for_each_weight<S, W>(job, samples, [&](std::int64_t i, S sample, W weight) {
      const slot bin =
          i < job.n ? samples.bin_of(i, sample, job.first + done, some, false) : samples.none;
      weights.add(sum::split(weight), bin);
    });
    weights.hand_in();
    wait_for_blocks(&job.state->arrived, ++barriers);
    for (std::size_t k = own; k < some; k += step) {
      finish_sum<W>(job, job.words + k * sum::words, {}, {}, done + k);
    }
    wait_for_blocks(&job.state->arrived, ++barriers);
  }
}

}  // namespace tally::backends::cuda
