// This header declares the kernels of min, max, minmax and iamax.
#pragma once

#include "backends/cuda/dot/kernels.hpp"

#include <tally/extremum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// One kernel is for vectors that are contiguous and whose elements don't lie across the borders of
/// loads, the other for all vectors, whose type its job tells. A candidate (for minmax both) takes
/// `words` words (words.hpp).
struct extremum_kernel {
  sum_kernel_function* contiguous = nullptr;
  sum_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// Returns the kernel for elements of type `x`.
template <extreme what>
const extremum_kernel& extremum_kernel_of(type x);

template <>
const extremum_kernel& extremum_kernel_of<extreme::min>(type x);
template <>
const extremum_kernel& extremum_kernel_of<extreme::max>(type x);
template <>
const extremum_kernel& extremum_kernel_of<extreme::minmax>(type x);
template <>
const extremum_kernel& extremum_kernel_of<extreme::iamax>(type x);

/// A load has so many bytes, and a thread has so many loads in flight at once. With 8 loads the
/// maximum of 2^28 doubles takes 463.2 us on an H200, with 4 476.5, with 16 466.1; of floats 238.7,
/// 238.3, 238.1; of 2^30 int8 251, 263 (2 loads), 248 (8). CUB's, without an index, take 465.6 and
/// 235.6 us.
inline constexpr int load_bytes = 16;
TALLY_HOST_DEVICE constexpr int loads_of(int size) { return size == 1 ? 4 : 8; }

/// Returns how many elements of `size` bytes a warp takes at a time.
TALLY_HOST_DEVICE constexpr int tile_of(int size, bool contiguous) {
  return 32 * (contiguous ? loads_of(size) * (load_bytes / size) : 16);
}

/// Returns how many elements past a multiple of a load a contiguous vector starts.
TALLY_HOST_DEVICE inline int head_of(const void* x, int size) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % load_bytes) / size;
}

}  // namespace tally::backends::cuda
