// The kernels of min, max, minmax and iamax, each search's in a source file of its own so that they
// compile side by side.
#pragma once

#include "backends/cuda/dot/kernels.hpp"

#include <tally/extremum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// For vectors that are contiguous and whose elements don't lie across the borders of loads, or for
/// any; `words` is how many (words.hpp) a candidate takes, or both of minmax.
struct extremum_kernel {
  dot_kernel_function* contiguous = nullptr;
  dot_kernel_function* any = nullptr;
  unsigned words = 0;
};

/// The kernel for elements of type `x`.
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

/// Bytes of a load, and the loads of a thread that are in flight at once. With 8 the maximum of
/// 2^28 doubles takes 463.2 us on an H200, with 4 476.5, with 16 466.1; of floats 238.7, 238.3,
/// 238.1; 2^30 int8 251, 263 (2 loads), 248 (8). CUB's, without an index: 465.6 and 235.6 us.
inline constexpr int load_bytes = 16;
TALLY_HOST_DEVICE constexpr int loads_of(int size) { return size == 1 ? 4 : 8; }

/// A warp's share at a time, in elements of `size` bytes.
TALLY_HOST_DEVICE constexpr int tile_of(int size, bool contiguous) {
  return 32 * (contiguous ? loads_of(size) * (load_bytes / size) : 16);
}

/// Elements by which a contiguous vector starts past a multiple of a load.
TALLY_HOST_DEVICE inline int head_of(const void* x, int size) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % load_bytes) / size;
}

}  // namespace tally::backends::cuda
