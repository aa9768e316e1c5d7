// Calls of CUB, and kernels over numbered items beside them.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <thread>

namespace tally::backends::cuda {

constexpr unsigned item_threads = 256;  ///< of a block

__device__ inline std::int64_t this_thread() {
  return std::int64_t{blockIdx.x} * item_threads + threadIdx.x;
}
__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * item_threads; }

/// Returns how many of n sorted numbers lie below `value`.
template <class T>
__device__ std::int64_t lower_bound(const T* sorted, std::int64_t n, std::int64_t value) {
  std::int64_t low = 0, high = n;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(sorted[middle]) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Runs a kernel that goes over `items` from `this_thread()` in steps of `all_threads()`.
template <class Kernel, class... Parameters>
void run(cudaStream_t stream, Kernel* kernel, std::int64_t items, const Parameters&... parameters) {
  const auto blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>((items + item_threads - 1) / item_threads, 1, 1 << 20));
  kernel<<<blocks, item_threads, 0, stream>>>(parameters...);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

/// Calls a function of CUB, first for the size of its memory.
template <class F>
void with_room(const F& f) {
  std::size_t bytes = 0;
  check(f(nullptr, bytes), "cub");
  device_memory room;
  room.allocate(std::max<std::size_t>(bytes, 1));
  check(f(room.get(), bytes), "cub");
}

/// Returns f(), run in a thread of its own: CUB checks the calling thread's last error, which may
/// be one that the caller has yet to see.
template <class F>
auto in_own_thread(const F& f) {
  decltype(f()) made{};
  std::exception_ptr failure;
  try {
    std::thread([&] {
      try {
        made = f();
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
  } catch (const std::system_error& none) {
    throw error(errc::device_failure,
                std::string("tally::cuda: no thread can be started: ") + none.what());
  }
  if (failure) std::rethrow_exception(failure);
  return made;
}

}  // namespace tally::backends::cuda
