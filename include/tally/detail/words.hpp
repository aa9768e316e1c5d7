// Tagged words: values handed over without fence, flag or ticket. A 64-bit store is never torn, so
// whoever sees the 32-bit tag has the 32 bits of payload, in whatever order words arrive
// (tuning/dot.md: tagged words).
#pragma once

#include <tally/operands/types.hpp>

#include <cstdint>
#include <cstring>

namespace tally::words {

/// Words per value of type `T`.
template <class T>
inline constexpr int words_per = sizeof(T) / 4;

TALLY_HOST_DEVICE constexpr std::uint64_t make_word(std::uint32_t payload, std::uint32_t tag) {
  return std::uint64_t{tag} << 32 | payload;
}
TALLY_HOST_DEVICE constexpr std::uint32_t tag_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

#if defined(__CUDACC__)  // device side

/// Tags between blocks. The reader restores `empty`, so every launch finds empty words; a sequence
/// number would repeat in every replay of a captured graph.
inline constexpr std::uint32_t empty = 0;
inline constexpr std::uint32_t full = 1;

// Relaxed, at device scope: visible to all blocks through L2, ordering nothing else. Volatile is
// the equivalent before compute capability 7.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
__device__ inline void store_word(std::uint64_t* to, std::uint64_t a) {
  *static_cast<volatile std::uint64_t*>(to) = a;
}
__device__ inline void store_words(std::uint64_t* to, std::uint64_t a, std::uint64_t b) {
  store_word(to, a);
  store_word(to + 1, b);
}
__device__ inline std::uint64_t load_word(const std::uint64_t* from) {
  return *static_cast<const volatile std::uint64_t*>(from);
}
__device__ inline void load_words(const std::uint64_t* from, std::uint64_t& a, std::uint64_t& b) {
  a = static_cast<const volatile std::uint64_t*>(from)[0];
  b = static_cast<const volatile std::uint64_t*>(from)[1];
}
#else
__device__ inline void store_word(std::uint64_t* to, std::uint64_t a) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(a) : "memory");
}
__device__ inline void store_words(std::uint64_t* to, std::uint64_t a, std::uint64_t b) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b) : "memory");
}
__device__ inline std::uint64_t load_word(const std::uint64_t* from) {
  std::uint64_t a;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(a) : "l"(from) : "memory");
  return a;
}
__device__ inline void load_words(const std::uint64_t* from, std::uint64_t& a, std::uint64_t& b) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(a), "=l"(b)
               : "l"(from)
               : "memory");
}
#endif

/// Writes payloads as words with the tag `full`.
template <int count>
__device__ void put(std::uint64_t* to, const std::uint32_t (&payload)[count]) {
  static_assert(count % 2 == 0);
#pragma unroll
  for (int i = 0; i < count; i += 2) {
    store_words(to + i, make_word(payload[i], full), make_word(payload[i + 1], full));
  }
}

template <class T>
__device__ void put(std::uint64_t* to, const T& value) {
  std::uint32_t payload[words_per<T>];
  memcpy(payload, &value, sizeof value);
  if constexpr (words_per<T> == 1) {
    store_word(to, make_word(payload[0], full));
  } else {
    put(to, payload);
  }
}

/// Waits, as a whole warp, until `count` words are full for each thread that `takes`, empties them
/// and returns their payloads; others get zeros. All threads loop until all are done
/// (tuning/dot.md: take).
template <int count>
__device__ void take(std::uint64_t* from, bool takes, std::uint32_t (&payload)[count]) {
  static_assert(count % 2 == 0);
  std::uint64_t word[count], all;
  do {
#pragma unroll
    for (int i = 0; i < count; i += 2) load_words(from + i, word[i], word[i + 1]);
    all = word[0];
#pragma unroll
    for (int i = 1; i < count; ++i) all &= word[i];
  } while (__any_sync(0xffffffffu, takes && tag_of(all) != full));
  if (takes) {
#pragma unroll
    for (int i = 0; i < count; i += 2) store_words(from + i, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < count; ++i) payload[i] = takes ? static_cast<std::uint32_t>(word[i]) : 0;
}

#endif

}  // namespace tally::words
