// Basics of all kernels.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/cuda/device/ptx.cuh"
#include "backends/cuda/device/words.hpp"

#include <tally/operands/types.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

inline constexpr unsigned warp = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// Blocks of 256 threads that fit an SM, at least, by compute capability.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
inline constexpr int max_blocks_at_once = 8;
#elif __CUDA_ARCH__ > 800
inline constexpr int max_blocks_at_once = 6;
#else
inline constexpr int max_blocks_at_once = 4;
#endif

/// Device type of an element; std::complex has no device functions.
template <class T>
struct on_device {
  using type = T;
};
template <>
struct on_device<bool> {
  using type = detail::bool8;
};
template <class R>
struct on_device<std::complex<R>> {
  using type = complex_number<R>;
};
template <class T>
using on_device_t = typename on_device<T>::type;

/// Rounds to nearest even.
template <class R, class T>
__device__ R convert(T value) {
  if constexpr (std::is_same_v<T, float16>) {
    return ptx::widened(value.bits);
  } else {
    return static_cast<R>(value);
  }
}

/// n objects in shared memory, not initialised: a type with a constructor can't lie there.
template <class T, unsigned n>
struct uninitialised {
  alignas(T) unsigned char bytes[n * sizeof(T)];

  __device__ operator T*() { return reinterpret_cast<T*>(bytes); }
};

/// Adjacent elements, loaded as widely as possible; zeros until then.
template <class T, int count>
struct elements {
  static constexpr int bytes = count * static_cast<int>(sizeof(T));
  using raw_type = std::conditional_t<
      bytes >= 16, uint4,
      std::conditional_t<bytes == 8, uint2,
                         std::conditional_t<bytes == 4, std::uint32_t, std::uint16_t>>>;

  raw_type raw[bytes / sizeof(raw_type)] = {};

  /// Through L2: the launch before may write the elements after this one became resident, when L1
  /// could be stale. (__ldg is for memory that nobody writes meanwhile.)
  __device__ void load(const T* from) {
#pragma unroll
    for (int i = 0; i < bytes / static_cast<int>(sizeof(raw_type)); ++i) {
      raw[i] = __ldcg(reinterpret_cast<const raw_type*>(from) + i);
    }
  }
  /// Through L1, for what many blocks of a launch read. Pre: the launch overlaps no other.
  __device__ void load_through_l1(const T* from) {
#pragma unroll
    for (int i = 0; i < bytes / static_cast<int>(sizeof(raw_type)); ++i) {
      raw[i] = __ldca(reinterpret_cast<const raw_type*>(from) + i);
    }
  }
  /// Loads `some` elements; the others become zeros.
  __device__ void load(const T* from, int some) {
    T all[count];
#pragma unroll
    for (int i = 0; i < count; ++i) all[i] = i < some ? from[i] : T();
    memcpy(raw, all, bytes);
  }
  static __device__ void store(const T (&from)[count], T* to) {
    raw_type all[bytes / sizeof(raw_type)];
    memcpy(all, from, bytes);
#pragma unroll
    for (int i = 0; i < bytes / static_cast<int>(sizeof(raw_type)); ++i) {
      reinterpret_cast<raw_type*>(to)[i] = all[i];
    }
  }
  __device__ T operator[](int i) const {
    T all[count];
    memcpy(all, raw, bytes);
    return all[i];
  }
  /// Returns element i without operator[]'s array, which stays in memory in some loops.
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

  /// Makes the compiler compute from the elements again, not keep earlier results in registers.
  __device__ void renew() {
#pragma unroll
    for (raw_type& w : raw) {
      if constexpr (sizeof(raw_type) == 16) {
        ptx::opaque(w.x), ptx::opaque(w.y), ptx::opaque(w.z), ptx::opaque(w.w);
      } else if constexpr (sizeof(raw_type) == 8) {
        ptx::opaque(w.x), ptx::opaque(w.y);
      } else {
        ptx::opaque(w);
      }
    }
  }

 private:
  __device__ std::uint32_t upto_32_bits(int i) const {
    if constexpr (sizeof(raw_type) == 16) {
      const uint4& four = raw[i / 4];
      return i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    } else if constexpr (sizeof(raw_type) == 8) {
      return i == 0 ? raw[0].x : raw[0].y;
    } else {
      return raw[0];
    }
  }
};

/// Loads an element through L2, like `elements`.
template <class T>
__device__ T load_one(const T* from) {
  using bits = std::conditional_t<
      sizeof(T) == 8, unsigned long long,
      std::conditional_t<sizeof(T) == 4, unsigned,
                         std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;
  return __builtin_bit_cast(T, __ldcg(reinterpret_cast<const bits*>(from)));
}

/// Writes a result: plain if `tag` is 0, else as tagged words (words.hpp).
template <class Result>
__device__ void deliver(const Result& result, std::uint32_t tag, void* to) {
  if (tag == 0) {
    *static_cast<Result*>(to) = result;
  } else {
    std::uint32_t payload[words_per<Result>];
    memcpy(payload, &result, sizeof result);
    auto* const words = static_cast<volatile std::uint64_t*>(to);
#pragma unroll
    for (int i = 0; i < words_per<Result>; ++i) words[i] = make_word(payload[i], tag);
  }
}

template <int parts, class R>
__device__ void deliver(const complex_number<R>& all, std::uint32_t tag, void* to) {
  if constexpr (parts == 1) {
    deliver(all.re, tag, to);
  } else {
    deliver(all, tag, to);
  }
}

__device__ inline void count_as_ended(std::uint64_t* ended) {
  if (ended != nullptr) atomicAdd(reinterpret_cast<unsigned long long*>(ended), 1ull);
}

// Programmatic dependent launch (runtime/launch.cpp): blocks become resident while the launch
// before on the stream ends, and wait here, before they touch memory, until its writes are visible.
// They let the next launch start after their own loads (tuning/short_calls.md: dependent launch).
using ptx::let_launch_after_start;
using ptx::wait_for_launch_before;

}  // namespace tally::backends::cuda
