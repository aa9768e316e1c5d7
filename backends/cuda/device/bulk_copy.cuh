// Bulk copies into shared memory: one thread's instruction, no registers. Before compute capability
// 9.0 the threads copy.
#pragma once

#include "backends/cuda/device/kernel.cuh"

#include <cstdint>

namespace tally::backends::cuda {

/// Returns the bytes for `count` elements of any alignment.
template <class T>
TALLY_HOST_DEVICE constexpr std::size_t bytes_to_bring(std::size_t count) {
  return (count * sizeof(T) + 15) / 16 * 16 + 16;
}

/// Whether the calling thread calls `bring`.
__device__ inline bool brings() {
#if __CUDA_ARCH__ >= 900
  return threadIdx.x == 0;
#else
  return true;
#endif
}

/// mbarrier in shared memory; completes when its bulk copies have arrived.
class bulk_barrier {
 public:
  /// First thread only, before any copy.
  __device__ void expect(unsigned copies) {
    ptx::init_barrier(address(), copies);
    reuse();
  }
  /// First thread only, before a copy to memory that threads have used, and then synchronised.
  __device__ void reuse() { ptx::fence_before_copy(); }
  /// Counts as a copy: waiting threads see what the caller has written, or read, so far.
  __device__ void arrive() { ptx::arrive(address()); }
  /// Starts a copy; first thread only. Addresses and bytes are multiples of 16.
  __device__ void copy(void* to, const void* from, unsigned bytes) {
    ptx::arrive_and_expect(address(), bytes);
    if (bytes == 0) return;
    ptx::copy_in_bulk(static_cast<unsigned>(__cvta_generic_to_shared(to)), from, bytes, address());
  }
  /// Waits for all copies. Pre: the block was synchronised after `expect`. As many copies may
  /// follow, with another `turn`.
  __device__ void wait(unsigned turn = 0) {
    while (!ptx::has_completed(address(), turn % 2)) {
    }
  }

 private:
  __device__ unsigned address() { return static_cast<unsigned>(__cvta_generic_to_shared(&state_)); }

  std::uint64_t state_;
};

/// Brings elements [begin, end) of an array of `size` into `memory`, 16-byte aligned, and returns
/// the index of the element at its start. Called where `brings()`; then all threads synchronise,
/// and wait at the barrier. Reads nothing outside the array.
template <class T>
__device__ std::int64_t bring(bulk_barrier& barrier, void* memory, const T* array,
                              std::int64_t size, std::int64_t begin, std::int64_t end) {
  constexpr std::uint64_t unit = 16;
  const auto address_of = [array](std::int64_t i) {
    return reinterpret_cast<std::uint64_t>(array + i);
  };
  const std::uint64_t start = address_of(begin) / unit * unit;  // of the first byte in `memory`
  const std::int64_t origin =
      begin - static_cast<std::int64_t>((address_of(begin) - start) / sizeof(T));
  T* const to = static_cast<T*>(memory);
  const auto take = [&](std::int64_t i) { to[i - origin] = array[i]; };
#if __CUDA_ARCH__ >= 900
  // Whole units within the array are copied in bulk, the ends one by one.
  const auto up = [](std::uint64_t address) { return (address + unit - 1) / unit * unit; };
  std::uint64_t first = start, last = up(address_of(end));
  if (first < address_of(0)) first = up(address_of(0));
  if (last > address_of(size)) last = address_of(size) / unit * unit;
  if (last < first || begin == end) last = first;  // nothing to copy
  barrier.copy(static_cast<char*>(memory) + (first - start), reinterpret_cast<const void*>(first),
               static_cast<unsigned>(last - first));
#pragma unroll 1
  for (std::int64_t i = begin; i < end && address_of(i) < first; ++i) take(i);
#pragma unroll 1
  for (std::int64_t i = end; i > begin && address_of(i - 1) >= last; --i) take(i - 1);
#else
  for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) take(i);
#endif
  return origin;
}

}  // namespace tally::backends::cuda
