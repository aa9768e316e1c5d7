// Rounding of the limbs of a result's parts.
#pragma once

#include "backends/common/order/weighted_square.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/device/warp_reduction.cuh"

#include <tally/numerics/exact_sum.hpp>

#include <cstdint>
#include <limits>

namespace tally::backends::cuda {

/// Returns the first 32 bits of the root of n >= 2^62. The double's root is off by less than 1.
__device__ inline std::uint64_t root_of(std::uint64_t n) {
  auto root = static_cast<std::uint64_t>(__dsqrt_rn(__ull2double_rz(n)));
  if (root > 0xffffffff) root = 0xffffffff;
  if (root * root > n) return root - 1;
  return n - root * root > 2 * root ? root + 1 : root;
}

/// Limbs that a warp rounds at once, a thread each; the last threads have the sign.
inline constexpr int few_limbs = 30;

/// A result, valid if `made`.
template <class R>
struct rounded_sum {
  R value;
  bool made;
};

/// Range of limbs outside which all are 0.
struct limb_range {
  int low;
  int high;
};

/// Called by a warp, as are those below.
template <class T>
__device__ limb_range nonzero_limbs(const std::int64_t* words, int thread) {
  constexpr int limbs = exact_sum<T>::limbs;
  limb_range range = {limbs, 0};
#pragma unroll
  for (int first = 0; first < limbs; first += static_cast<int>(warp)) {
    const int i = first + thread;
    if (i >= limbs || words[i] == 0) continue;
    range.low = min(range.low, i);
    range.high = i + 1;
  }
  return {static_cast<int>(smallest_of_warp(static_cast<std::uint32_t>(range.low))),
          static_cast<int>(largest_of_warp(static_cast<std::uint32_t>(range.high)))};
}

/// Returns the threads into which a carry comes, if some make one and others pass one on.
__device__ inline unsigned carries(bool makes, bool passes) {
  const unsigned passing = __ballot_sync(whole_warp, passes);
  return (passing + (__ballot_sync(whole_warp, makes) << 1)) ^ passing;
}

/// Returns the thread's digit of the magnitude of the sum of limb * 2^(32 thread). Pre: that is
/// below 2^(31 * 32).
__device__ inline std::uint32_t digit_of_magnitude(std::int64_t limb, int thread, bool& negative) {
  // Each twice the carry of the thread below: digits are in [-1, 2^32].
#pragma unroll
  for (int turn = 0; turn < 2; ++turn) {
    const int carry = __shfl_up_sync(whole_warp, static_cast<int>(limb >> 32), 1);
    limb = (limb & 0xffffffff) + (thread > 0 ? carry : 0);
  }
  // One more in all, so that no digit is negative, and one less.
  const auto more = static_cast<std::uint64_t>(limb + 1);
  auto digit = static_cast<std::uint32_t>(more);
  digit += carries(more > 0xffffffff, more == 0xffffffff) >> thread & 1;
  digit -= 1 + (carries(digit == 0, digit == 1) >> thread & 1);
  negative = __ballot_sync(whole_warp, digit != 0) >> (warp - 1) != 0;
  if (!negative) return digit;
  const int first = __ffs(static_cast<int>(__ballot_sync(whole_warp, digit != 0))) - 1;
  return thread < first ? 0 : thread == first ? 0 - digit : ~digit;
}

/// Rounds a sum of few limbs, or its root, if that is normal (tuning/exact.md: round_few). Not
/// inlined: the whole kernel would need its registers.
template <class T, class R>
__noinline__ __device__ rounded_sum<R> round_few(const std::int64_t* words, limb_range range,
                                                 bool root, int thread) {
  using sum = exact_sum<T>;
  constexpr int leading = 5;  // digits that enter, besides a sticky bit
  if (words[sum::nan_word] != 0 || words[sum::plus_infinity_word] != 0 ||
      words[sum::minus_infinity_word] != 0) {
    return {};
  }
  bool negative;
  const int limb = range.low + thread;
  const std::uint32_t digit =
      digit_of_magnitude(limb < range.high ? words[limb] : 0, thread, negative);
  const unsigned nonzero = __ballot_sync(whole_warp, digit != 0);
  if (nonzero == 0 || (root && negative)) return {};
  const int top_at = static_cast<int>(warp) - 1 - __clz(static_cast<int>(nonzero));
  std::uint32_t top[leading];
#pragma unroll
  for (int j = 0; j < leading; ++j) {
    top[j] = __shfl_sync(whole_warp, digit, top_at - j);
    if (top_at < j) top[j] = 0;
  }
  std::uint32_t rest = top_at < leading ? 0 : nonzero << (warp + leading - 1 - top_at);
  // The result's first 64 bits, the last one sticky, for ties. The value is bits * 2^exponent.
  const int top_exponent = sum::lowest_exponent + sum::radix_bits * (range.low + top_at + 1);
  std::uint64_t bits;
  int exponent;
  const auto pair = [&](int i, int zeros) {
    return std::uint64_t{__funnelshift_l(top[i + 1], top[i], zeros)} << 32 |
           __funnelshift_l(top[i + 2], top[i + 1], zeros);
  };
  if (root) {  // as in exact_sum
    const int zeros = __clz(static_cast<int>(top[0])) & ~1;
    const std::uint64_t high_bits = pair(0, zeros), low_bits = pair(2, zeros);
    rest |= top[4] << zeros;
    const std::uint64_t s = root_of(high_bits);
    const auto dividend = static_cast<std::int64_t>((high_bits - s * s) << 24 | low_bits >> 40);
    const auto two_s = static_cast<std::int64_t>(2 * s);
    auto q = static_cast<std::int64_t>(  // off by at most 1: below 2^25
        __ddiv_rn(__ll2double_rn(dividend), __ll2double_rn(two_s)));
    std::int64_t left = dividend - q * two_s;
    if (left < 0) --q, left += two_s;
    if (left >= two_s) ++q, left -= two_s;
    const auto next = static_cast<std::int64_t>(low_bits >> 16 & 0xffffff);
    const std::int64_t remainder = (left << 24 | next) - q * q;
    bits = ((s << 24) + static_cast<std::uint64_t>(q) - (remainder < 0)) << 8 |
           (remainder != 0 || low_bits << 48 != 0 || rest != 0);
    exponent = (top_exponent - zeros) / 2 - 64;
  } else {
    const int zeros = __clz(static_cast<int>(top[0]));
    bits = pair(0, zeros) | ((top[2] << zeros | top[3] | top[4] | rest) != 0);
    exponent = top_exponent - zeros - 64;
  }
  using limits = std::numeric_limits<R>;
  if (exponent + 63 < limits::min_exponent - 1 || exponent + 64 > limits::max_exponent - 1) {
    return {};
  }
  if constexpr (sizeof(R) == 8) {
    const std::int64_t of_integer = __double_as_longlong(__ull2double_rn(bits));
    return {__longlong_as_double((of_integer + (std::int64_t{exponent} << 52)) |
                                 static_cast<std::int64_t>(std::uint64_t{negative} << 63)),
            true};
  } else {
    const int of_integer = __float_as_int(__ull2float_rn(bits));
    return {__int_as_float((of_integer + exponent * (1 << 23)) |
                           static_cast<int>(std::uint32_t{negative} << 31)),
            true};
  }
}

/// Rounds the result to `to`. Called by a warp.
template <class T, class Job, unsigned count>
__device__ void round_and_deliver(const Job& job, const std::int64_t (*words)[count], int thread,
                                  void* to) {
  const auto as = [&]<class R>(R) {
    complex_number<R> result = {};
    for (unsigned i = 0; i < job.parts; ++i) {
      const limb_range range = nonzero_limbs<T>(words[i], thread);
      rounded_sum<R> few = {};
      if (range.high - range.low <= few_limbs) {
        few = round_few<T, R>(words[i], range, job.root, thread);
      }
      if (thread == 0 && !few.made) {
        few.value =
            job.root ? exact_sum<T>::template round_root_words<R>(words[i], range.low, range.high)
                     : exact_sum<T>::template round_words<R>(words[i], range.low, range.high);
      }
      if (i == 0) {
        result.re = few.value;
      } else {
        result.im = few.value;
      }
    }
    if (thread != 0) return;
    if (job.divisor > 0) result.re = root_of_mean(result.re, job.divisor);
    if (job.parts == 1) {
      deliver<1>(result, job.tag, to);
    } else {
      deliver<2>(result, job.tag, to);
    }
  };
  if (job.to_float) {
    as(float());
  } else {
    as(double());
  }
}

}  // namespace tally::backends::cuda
