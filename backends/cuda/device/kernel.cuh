// What the kernels of this column share: how elements are loaded and converted, how a result is
// written, and how a launch waits for the one before.
#pragma once

#include "backends/cuda/device/words.hpp"
#include "src/core/order/dot_sum.hpp"

#include <tally/types.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

inline constexpr unsigned warp = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// What an element is on the device, where std::complex has no functions.
template <class T>
struct on_device {
  using type = T;
};
template <>
struct on_device<bool> {
  using type = types::bool8;
};
template <class R>
struct on_device<std::complex<R>> {
  using type = complex_number<R>;
};
template <class T>
using on_device_t = typename on_device<T>::type;

/// To the accumulator's real type, to nearest even.
template <class R, class T>
__device__ R convert(T value) {
  if constexpr (std::is_same_v<T, float16>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
  } else {
    return static_cast<R>(value);
  }
}

/// `count` adjacent elements, loaded with the widest loads that there are; zeros until then.
template <class T, int count>
struct elements {
  static constexpr int bytes = count * static_cast<int>(sizeof(T));
  using word = std::conditional_t<
      bytes >= 16, uint4,
      std::conditional_t<bytes == 8, uint2,
                         std::conditional_t<bytes == 4, std::uint32_t, std::uint16_t>>>;

  word words[bytes / sizeof(word)] = {};

  /// Through L2: the launch before may have written this while this one was placed already, and L1
  /// (or __ldg, which asks for memory that nobody writes meanwhile) could hold what was there then.
  __device__ void load(const T* from) {
#pragma unroll
    for (int i = 0; i < bytes / static_cast<int>(sizeof(word)); ++i) {
      words[i] = __ldcg(reinterpret_cast<const word*>(from) + i);
    }
  }
  /// The first `some` of them; zeros after those.
  __device__ void load(const T* from, int some) {
    T all[count];
#pragma unroll
    for (int i = 0; i < count; ++i) all[i] = i < some ? from[i] : T();
    memcpy(words, all, bytes);
  }
  __device__ T operator[](int i) const {
    T all[count];
    memcpy(all, words, bytes);
    return all[i];
  }
  /// The same without an array, which some loops leave in memory.
  __device__ T at(int i) const {
    if constexpr (sizeof(T) == 8) {
      return __builtin_bit_cast(T,
                                std::uint64_t{upto_32_bits(2 * i + 1)} << 32 | upto_32_bits(2 * i));
    } else {
      constexpr int in_one = bytes < 4 ? count : 4 / static_cast<int>(sizeof(T));
      using bits =
          std::conditional_t<sizeof(T) == 4, std::uint32_t,
                             std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>;
      return __builtin_bit_cast(
          T, static_cast<bits>(upto_32_bits(i / in_one) >> 8 * sizeof(T) * (i % in_one)));
    }
  }

  /// The compiler takes them for others from here on, so that it computes from them again instead
  /// of keeping what it did.
  __device__ void renew() {
#pragma unroll
    for (word& w : words) {
      if constexpr (sizeof(word) == 16) {
        asm volatile("" : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w));
      } else if constexpr (sizeof(word) == 8) {
        asm volatile("" : "+r"(w.x), "+r"(w.y));
      } else if constexpr (sizeof(word) == 4) {
        asm volatile("" : "+r"(w));
      } else {
        asm volatile("" : "+h"(w));
      }
    }
  }

 private:
  __device__ std::uint32_t upto_32_bits(int i) const {
    if constexpr (sizeof(word) == 16) {
      const uint4& four = words[i / 4];
      return i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    } else if constexpr (sizeof(word) == 8) {
      return i == 0 ? words[0].x : words[0].y;
    } else {
      return words[0];
    }
  }
};

/// Writes a result where the host asked for it: plainly, or with a tag as words (words.hpp) to the
/// host, which waits for them.
template <class Result>
__device__ void deliver(const Result& result, std::uint32_t tag, void* to) {
  if (tag == 0) {
    *static_cast<Result*>(to) = result;
  } else {
    std::uint32_t payload[words_of<Result>];
    memcpy(payload, &result, sizeof result);
    auto* const words = static_cast<volatile std::uint64_t*>(to);
#pragma unroll
    for (int i = 0; i < words_of<Result>; ++i) words[i] = make_word(payload[i], tag);
  }
}

/// Of one or two parts.
template <int parts, class R>
__device__ void deliver(const complex_number<R>& all, std::uint32_t tag, void* to) {
  if constexpr (parts == 1) {
    deliver(all.re, tag, to);
  } else {
    deliver(all, tag, to);
  }
}

// Programmatic dependent launch (dot.cpp asks for it): the blocks of a launch may be placed while
// the one before on the stream ends, and wait here, before they touch memory, until it has ended
// and its writes are seen. Takes 0.3 to 0.4 us off each call of a chain, 4.1 to 3.9 us at 2^20
// doubles. Letting the next launch start before the loads are done made 2^18 to 2^20 slower, by 0.3
// to 0.5 us.
__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_launch_after_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace tally::backends::cuda
