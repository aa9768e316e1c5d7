// Kernels of extrema.
#pragma once

#include "backends/cuda/dot/kernels.hpp"

#include <tally/operations/extremum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// `contiguous` is for contiguous vectors whose elements don't straddle loads, `any` for all. A
/// candidate (for minmax both) takes `words` words (words.hpp).
struct extremum_kernel {
  sum_kernel_function* contiguous = nullptr;
  sum_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// Instantiated in the .cu files.
template <extreme what>
[[gnu::visibility("hidden")]] const extremum_kernel& extremum_kernel_of(type x);

/// Bytes per load; loads in flight per thread (tuning/extremum.md: loads_of).
inline constexpr int load_bytes = 16;
TALLY_HOST_DEVICE constexpr int loads_of(int size) { return size == 1 ? 4 : 8; }

/// Returns a warp's elements at a time.
TALLY_HOST_DEVICE constexpr int tile_of(int size, bool contiguous) {
  return 32 * (contiguous ? loads_of(size) * (load_bytes / size) : 16);
}

/// Returns the elements from a multiple of load_bytes to a contiguous vector's start.
TALLY_HOST_DEVICE inline int head_of(const void* x, int size) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % load_bytes) / size;
}

}  // namespace tally::backends::cuda
