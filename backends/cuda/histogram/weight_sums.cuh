// Windows of weights, and sums of their digits, each rounded once.
#pragma once

#include "backends/common/histogram/weights.hpp"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/histogram/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tally::backends::cuda {

// --- Windows -------------------------------------------------------------------------------------

/// Chooses the window that holds most of some weights, at random places; one digit if (nearly) all
/// fit. Called by a block of histogram_threads.
template <class W>
__device__ void choose_window(const histogram_weights_job& job) {
  // Exponents of tops: from that of the smallest subnormal's, 1.
  constexpr int each = 3, room = each * static_cast<int>(histogram_threads);
  constexpr int lowest = std::numeric_limits<double>::min_exponent - 53;
  /// Others may be larger.
  constexpr int margin = 1;
  __shared__ std::uint32_t changes[room], of_warp[warp], best, seen;
  const int bits_of_n = 64 - __clzll(::max(job.n - 1, std::int64_t{0}));
  const int upper_bits = ::min(45, 62 - bits_of_n), lower_bits = ::min(45, 63 - bits_of_n);

  const std::int64_t step = ::max(job.n / std::int64_t{histogram_threads}, std::int64_t{1});
  const std::uint32_t random = (threadIdx.x + 1) * 0x9e3779b1u;
  const std::int64_t at = threadIdx.x * step + random % step;
  int top = 0, bottom = 0;
  bool counts = false;
  if (at < job.n) {
    const detail::float_parts<W> v(
        load_one(static_cast<const W*>(job.weights) + at * job.weights_increment));
    counts = !v.special() && !v.zero();
    top = v.exponent + 64 - __clzll(static_cast<std::int64_t>(v.significand));
    bottom = v.exponent + __ffsll(static_cast<std::int64_t>(v.significand)) - 1;
  }
  for (int digits = 1; digits <= 2; ++digits) {
    const int span = digits == 1 ? upper_bits : upper_bits + lower_bits;
    // Windows whose top is within [first, last] hold the weight.
    const int first = ::max(top + margin, lowest + span), last = ::min(bottom + span, max_top);
    for (int i = threadIdx.x; i < room; i += blockDim.x) changes[i] = 0;
    if (threadIdx.x == 0) best = seen = 0;
    __syncthreads();
    if (counts) atomicAdd(&seen, 1u);
    if (counts && first <= last) {
      atomicAdd(changes + (first - lowest), 1u);
      atomicAdd(changes + (last + 1 - lowest), ~0u);  // -1
    }
    __syncthreads();
    std::uint32_t held[each], upto = 0;
#pragma unroll
    for (int i = 0; i < each; ++i) held[i] = upto += changes[each * threadIdx.x + i];
    const std::uint32_t before = sum_of_lower_threads(upto, of_warp);
    std::uint32_t own = 0;  // number of weights, and the lowest such window
#pragma unroll
    for (int i = 0; i < each; ++i) {
      own = ::max(own, (before + held[i]) << 12 | (0xfffu - (each * threadIdx.x + i)));
    }
    own = largest_of_warp(own);
    if (threadIdx.x % warp == 0) atomicMax(&best, own);
    __syncthreads();
    const std::uint32_t strays = seen - (best >> 12);
    if (digits == 2 || strays <= seen / 256) {
      if (threadIdx.x == 0) {
        // Too many for the rows.
        const std::size_t rows = std::size_t{1} << job.row_bits;
        job.state->full =
            job.some > rows && strays * static_cast<std::size_t>(step) > 4 * rows ? 1 : 0;
        job.state->arrived = 0;
        const int of_best = lowest + static_cast<int>(0xfff - (best & 0xfff));
        const int end = ::min(::max(of_best, lowest + span), max_top);
        weight_window& w = job.state->window;
        w.digits = digits;
        w.end = ::scalbn(1.0, end);
        w.exponent[0] = end - span;
        w.exponent[1] = digits == 2 ? end - upper_bits : w.exponent[0];
        for (int d = 0; d < 2; ++d) {
          w.unit[d] = ::scalbn(1.0, w.exponent[d]);
          w.bias[d] = 0x1.8p52 * w.unit[d];
        }
      }
      return;
    }
    __syncthreads();
  }
}

/// Block 0 chooses the window; the others write zeros.
template <class W>
__global__ void __launch_bounds__(histogram_threads)
    begin_weights(const __grid_constant__ histogram_weights_job job) {
  wait_for_launch_before();
  if (blockIdx.x == 0) {
    if (job.clears_outside) {
      for (unsigned i = threadIdx.x; i < 3 * job.channels; i += blockDim.x) job.outside[i] = 0;
    }
    choose_window<W>(job);
    return;
  }
  auto* const to = reinterpret_cast<uint4*>(job.words);
  const std::size_t step = std::size_t{gridDim.x - 1} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x - 1} * blockDim.x + threadIdx.x; i < job.bytes / 16;
       i += step) {
    to[i] = uint4{};
  }
}

__device__ inline weight_window window_of(const histogram_weights_job& job) {
  const weight_window& from = job.state->window;
  weight_window w;
  w.digits = load_one(&from.digits);
  w.end = load_one(&from.end);
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    w.exponent[d] = load_one(from.exponent + d);
    w.unit[d] = load_one(from.unit + d);
    w.bias[d] = load_one(from.bias + d);
  }
  return w;
}

// --- Sums ----------------------------------------------------------------------------------------

/// Any sum: of all limbs, unless null, and of digits.
template <class W, class R>
__device__ __noinline__ void finish_any_sum(const histogram_weights_job& job,
                                            const std::int64_t* limbs, const weight_window& window,
                                            longlong2 digits, std::size_t k) {
  using of_weights = weight_sum<W>;
  using all = exact_sum<std::conditional_t<(sizeof(R) > sizeof(W)), R, W>>;
  constexpr int first =
      (of_weights::exact::lowest_exponent - all::lowest_exponent) / 32 + of_weights::first_limb;
  std::int64_t words[all::words] = {};
  all sum;
  if (limbs != nullptr) {
    for (int i = 0; i < of_weights::limbs; ++i) words[first + i] = load_one(limbs + i);
    const std::int64_t special = load_one(limbs + of_weights::special);
    words[all::nan_word] = (special & of_weights::nan_bit) != 0;
    words[all::plus_infinity_word] = (special & of_weights::plus_infinity_bit) != 0;
    words[all::minus_infinity_word] = (special & of_weights::minus_infinity_bit) != 0;
    sum = all::from_words(words);
  }
  sum.add_scaled(digits.x, window.exponent[0]);
  sum.add_scaled(digits.y, window.exponent[1]);
  if constexpr (sizeof(R) >= sizeof(W)) {
    if (job.to_words) {
      sum.to_words(words);
      auto* const to = static_cast<std::int64_t*>(job.sums) + k * all::words;
      for (int i = 0; i < all::words; ++i) to[i] += words[i];
      return;
    }
  }
  R& to = static_cast<R*>(job.sums)[k];
  if (job.keeps && sum == all()) return;
  if (job.add) sum.add(to);
  to = sum.template round<R>();
}
template <class W>
__device__ void finish_sum(const histogram_weights_job& job, const std::int64_t* limbs,
                           const weight_window& window, longlong2 digits, std::size_t k) {
  if (job.to_doubles) {
    finish_any_sum<W, double>(job, limbs, window, digits, k);
  } else {
    finish_any_sum<W, float>(job, limbs, window, digits, k);
  }
}

/// Any order; the error is exact.
__device__ inline double sum_with_error(double a, double b, double& error) {
  const double sum = __dadd_rn(a, b), of_b = __dsub_rn(sum, a);
  error = __dadd_rn(__dsub_rn(a, __dsub_rn(sum, of_b)), __dsub_rn(b, of_b));
  return sum;
}
/// An inexact sum becomes the neighbour whose last bit is set.
__device__ inline double sum_to_odd(double a, double b) {
  const double down = __dadd_rd(a, b);
  return (__double_as_longlong(down) & 1) != 0 ? down : __dadd_ru(a, b);
}

/// Adds digits to a number in arithmetic of doubles, if that rounds correctly (Boldo, Melquiond:
/// Emulation of FMA and correctly rounded sums, 2008).
template <class R>
__device__ bool add_digits(const weight_window& window, longlong2 digits, bool add, bool keeps,
                           R* to) {
  std::int64_t upper = digits.x, lower = 0;
  const int bits = window.exponent[1] - window.exponent[0];
  if (window.digits == 2) {
    upper = digits.y + (digits.x >> bits);
    lower = digits.x & ((std::int64_t{1} << bits) - 1);
  }
  if (upper == 0 && lower == 0) {
    if (keeps) return true;
    const R before = add ? *to : R();
    *to = before + R();  // no -0
    return before == before;
  }
  const double before = add ? static_cast<double>(*to) : 0;
  const double high = __ll2double_rn(upper);
  const std::int64_t rest = ((upper - __double2ll_rn(high)) << bits) + lower;
  if (!(::fabs(before) <= max_addend) || rest >= std::int64_t{1} << 53 ||
      rest <= -(std::int64_t{1} << 53)) {
    return false;
  }
  double error, error_of_sum;
  const double sum = sum_with_error(__dmul_rn(high, window.unit[1]),
                                    __dmul_rn(__ll2double_rn(rest), window.unit[0]), error);
  const double total = sum_with_error(before, sum, error_of_sum);
  const double tail = sum_to_odd(error_of_sum, error);
  if constexpr (sizeof(R) == 8) {
    *to = __dadd_rn(total, tail);
  } else {
    *to = __double2float_rn(sum_to_odd(total, tail));
  }
  return true;
}

template <class W>
__global__ void __launch_bounds__(128, 8)
    finish_weights(const __grid_constant__ histogram_weights_job job) {
  wait_for_launch_before();
  if (load_one(&job.state->full) != 0) return;
  const weight_window window = window_of(job);
  const std::size_t own = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  const auto digits_of = [&](std::size_t k) {
    if (window.digits == 2) return __ldcg(reinterpret_cast<const longlong2*>(job.digits) + k);
    return longlong2{load_one(job.digits + k), 0};
  };
  for (std::size_t k = own; k < job.some; k += step) {
    if ((load_one(job.strayed + k / 32) >> k % 32 & 1) != 0) continue;
    const longlong2 digits = digits_of(k);
    const bool is_done =
        !job.to_words &&
        (job.to_doubles
             ? add_digits(window, digits, job.add, job.keeps, static_cast<double*>(job.sums) + k)
             : add_digits(window, digits, job.add, job.keeps, static_cast<float*>(job.sums) + k));
    if (!is_done) finish_sum<W>(job, nullptr, window, digits, k);
  }
  for (std::size_t row = own; row < std::size_t{1} << job.row_bits; row += step) {
    const std::uint32_t owner = load_one(job.owners + row);
    if (owner == 0) continue;
    finish_sum<W>(job, job.words + row * weight_sum<W>::words, window, digits_of(owner - 1),
                  owner - 1);
  }
}

}  // namespace tally::backends::cuda
