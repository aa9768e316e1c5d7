// Rounding of the limbs of a result's parts.
#pragma once

#include "backends/common/order/weighted_square.hpp"
#include "backends/cuda/device/kernel.cuh"

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

/// Limbs rounded in registers: enough for values over 2^+-100 (tuning/exact.md: few_limbs).
inline constexpr int few_limbs = 12;

/// A result, valid if `made`.
template <class R>
struct rounded_sum {
  R value;
  bool made;
};

/// Rounds a sum of few limbs, or its root, if that is normal; in registers (tuning/exact.md:
/// round_few). Not inlined: the whole kernel would need its registers.
template <class T, class R>
__noinline__ __device__ rounded_sum<R> round_few(const std::int64_t* words, int low, bool root) {
  using sum = exact_sum<T>;
  constexpr int digits = few_limbs + 1;  // the sum has a digit more
  constexpr int leading = 5;             // digits that enter, besides a sticky bit
  if (words[sum::nan_word] != 0 || words[sum::plus_infinity_word] != 0 ||
      words[sum::minus_infinity_word] != 0) {
    return {};
  }
  const int first = min(low, sum::limbs - few_limbs);  // limbs from there on, except few, are 0
  std::uint32_t digit[digits];
  std::int64_t carry = 0;
#pragma unroll
  for (int i = 0; i < few_limbs; ++i) {
    carry += words[first + i];
    digit[i] = static_cast<std::uint32_t>(carry);
    carry >>= sum::radix_bits;
  }
  digit[few_limbs] = static_cast<std::uint32_t>(carry);
  const std::uint32_t sign = carry < 0 ? ~0u : 0;
  std::uint64_t magnitude = std::uint64_t{carry < 0} << 32;  // -v is ~v + 1
  std::uint32_t top[leading] = {}, below = 0, rest = 0;
  int top_at = -1;
#pragma unroll
  for (int i = 0; i < digits; ++i) {
    magnitude = (magnitude >> sum::radix_bits) + (digit[i] ^ sign);
    digit[i] = static_cast<std::uint32_t>(magnitude);
    if (i >= leading) below |= digit[i - leading];
    if (digit[i] == 0) continue;
    top_at = i;
#pragma unroll
    for (int j = 0; j < leading; ++j) top[j] = i >= j ? digit[i - j] : 0;
    rest = below;
  }
  if (top_at < 0 || (root && sign != 0)) return {};
  // The result's first 64 bits, the last one sticky, for ties. The value is bits * 2^exponent.
  const int top_exponent = sum::lowest_exponent + sum::radix_bits * (first + top_at + 1);
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
                                 static_cast<std::int64_t>(std::uint64_t{sign} << 63)),
            true};
  } else {
    const int of_integer = __float_as_int(__ull2float_rn(bits));
    return {__int_as_float((of_integer + exponent * (1 << 23)) | static_cast<int>(sign << 31)),
            true};
  }
}

/// Rounds the result to `to`. Each part's `words` are 0 outside [low, high).
template <class T, class Job, unsigned count>
__device__ void round_and_deliver(const Job& job, const std::int64_t (*words)[count], int low,
                                  int high, void* to) {
  const auto as = [&]<class R>(R) {
    R part[2] = {};
    for (unsigned i = 0; i < job.parts; ++i) {
      rounded_sum<R> few = {};
      if (high - low <= few_limbs) few = round_few<T, R>(words[i], low, job.root);
      if (few.made) {
        part[i] = few.value;
      } else {
        part[i] = job.root ? exact_sum<T>::template round_root_words<R>(words[i], low, high)
                           : exact_sum<T>::template round_words<R>(words[i], low, high);
      }
    }
    if (job.divisor > 0) part[0] = root_of_mean(part[0], job.divisor);
    if (job.parts == 1) {
      deliver<1>(complex_number<R>{part[0], R()}, job.tag, to);
    } else {
      deliver<2>(complex_number<R>{part[0], part[1]}, job.tag, to);
    }
  };
  if (job.to_float) {
    as(float());
  } else {
    as(double());
  }
}

}  // namespace tally::backends::cuda
