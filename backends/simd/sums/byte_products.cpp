#include "backends/simd/sums/byte_products.hpp"

#include <algorithm>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tally::backends::simd {

#if defined(__x86_64__)

namespace {

#define TALLY_WITH_VNNI [[gnu::target("avx512f,avx512bw,avx512vnni")]]

/// Adds products of 64 bytes, four per 32-bit number, modulo 2^32.
///
/// The instruction takes an unsigned and a signed byte: the first of two signed bytes, or the
/// second of two unsigned ones, changes by 128 (its highest bit is flipped), which `others`, the
/// sum of the others, corrects.
template <class X, class Y>
TALLY_WITH_VNNI inline void add(__m512i x, __m512i y, __m512i& sum, __m512i& others) {
  const __m512i flip = _mm512_set1_epi8(-128), one = _mm512_set1_epi8(1);
  if constexpr (std::is_signed_v<X> && std::is_signed_v<Y>) {
    sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(x, flip), y);
    others = _mm512_dpbusd_epi32(others, one, y);
  } else if constexpr (std::is_unsigned_v<X> && std::is_unsigned_v<Y>) {
    sum = _mm512_dpbusd_epi32(sum, x, _mm512_xor_si512(y, flip));
    others = _mm512_dpbusd_epi32(others, x, one);
  } else if constexpr (std::is_unsigned_v<X>) {
    sum = _mm512_dpbusd_epi32(sum, x, y);
  } else {
    sum = _mm512_dpbusd_epi32(sum, y, x);
  }
}

/// The same for the first `count` bytes, 1 to 64; touches none beyond.
template <class X, class Y>
TALLY_WITH_VNNI inline void add_first(const X* x, const Y* y, std::size_t count, __m512i& sum,
                                      __m512i& others) {
  const __mmask64 some = ~std::uint64_t{0} >> (64 - count);
  add<X, Y>(_mm512_maskz_loadu_epi8(some, x), _mm512_maskz_loadu_epi8(some, y), sum, others);
}

/// Returns the total, by plain code: by instructions, GCC 12 would warn of its own header.
template <class X, class Y>
TALLY_WITH_VNNI inline std::int64_t total(__m512i sum, __m512i others) {
  constexpr bool is_unsigned = std::is_unsigned_v<X> && std::is_unsigned_v<Y>;
  alignas(64) std::uint32_t sums[16], of_others[16];
  _mm512_store_si512(sums, sum);
  _mm512_store_si512(of_others, others);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if constexpr (is_unsigned) {
      all += sums[i] + 128 * of_others[i];
    } else {
      all += static_cast<std::int32_t>(sums[i] - 128 * of_others[i]);
    }
  }
  return all;
}

/// @pre n is at most 2^20: a 32-bit number holds four products 2^14 times.
template <class X, class Y>
TALLY_WITH_VNNI std::int64_t sum_by_fours(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t width = 64, sets = 4, step = sets * width;
  const __m512i zero = _mm512_setzero_si512();
  __m512i sum = zero, others = zero;
  if (n >= 2 * step) {
    // x is aligned: loads across a cache line cost two.
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(x) % width;
    if (head > 0) add_first(x, y, head, sum, others);
    x += head, y += head, n -= head;
    __m512i sums[sets] = {sum, zero, zero, zero}, others_of[sets] = {others, zero, zero, zero};
    for (; n >= step; n -= step, x += step, y += step) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < sets; ++k) {
        add<X, Y>(_mm512_loadu_si512(x + k * width), _mm512_loadu_si512(y + k * width), sums[k],
                  others_of[k]);
      }
    }
    sum = _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
    others = _mm512_add_epi32(_mm512_add_epi32(others_of[0], others_of[1]),
                              _mm512_add_epi32(others_of[2], others_of[3]));
  }
  for (; n >= width; n -= width, x += width, y += width) {
    add<X, Y>(_mm512_loadu_si512(x), _mm512_loadu_si512(y), sum, others);
  }
  if (n > 0) add_first(x, y, n, sum, others);
  return total<X, Y>(sum, others);
}

}  // namespace

bool adds_byte_products_by_fours() noexcept { return __builtin_cpu_supports("avx512vnni") != 0; }

template <class X, class Y>
std::int64_t sum_of_byte_products(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t part = std::size_t{1} << 20;
  std::int64_t sum = 0;
  for (; n > part; n -= part, x += part, y += part) sum += sum_by_fours(x, y, part);
  return sum + sum_by_fours(x, y, n);
}

#else

bool adds_byte_products_by_fours() noexcept { return false; }

template <class X, class Y>
std::int64_t sum_of_byte_products(const X*, const Y*, std::size_t) {
  return 0;
}

#endif

template std::int64_t sum_of_byte_products(const std::int8_t*, const std::int8_t*, std::size_t);
template std::int64_t sum_of_byte_products(const std::int8_t*, const std::uint8_t*, std::size_t);
template std::int64_t sum_of_byte_products(const std::uint8_t*, const std::int8_t*, std::size_t);
template std::int64_t sum_of_byte_products(const std::uint8_t*, const std::uint8_t*, std::size_t);

}  // namespace tally::backends::simd
