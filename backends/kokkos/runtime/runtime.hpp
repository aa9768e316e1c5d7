// Calls of Kokkos: lock, parallel regions and scratch memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <tally/executor.hpp>

#include <cstddef>
#include <future>
#include <mutex>
#include <type_traits>

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace tally::backends::kokkos {

using space = Kokkos::DefaultExecutionSpace;
using memory = space::memory_space;

inline constexpr bool on_host = std::is_same_v<space, Kokkos::DefaultHostExecutionSpace>;

/// The executor's instance. @throws error invalid_argument if it is on another device than Kokkos's
/// memory.
space space_of(const executor& where);

/// Returns the lock for calls of Kokkos, whose default execution space serves one host thread at a
/// time. @throws error no_device if Kokkos is not initialised or already finalised.
[[nodiscard]] std::unique_lock<std::mutex> acquire();

/// Returns f(), called on a new thread if Kokkos's threads are OpenMP's and this one is in a
/// parallel region, the program's or the openmp backend's: Kokkos aborts if they are nested.
template <class F>
auto outside_regions(const F& f) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<space, Kokkos::OpenMP>) {
    if (omp_get_level() > 0) return std::async(std::launch::async, f).get();
  }
#endif
  return f();
}

/// Returns f(), called with the lock and outside parallel regions.
template <class F>
auto locked(const F& f) {
  return outside_regions([&] {
    const auto lock = acquire();
    return f();
  });
}

/// Returns at least `bytes` of memory for the holder of `acquire`, that of an instance's queue.
/// Reused by calls, whose kernels are in order there. Grows as needed, contents lost; freed when
/// Kokkos is finalised. @throws as `fail_allocation`.
void* scratch(const space& on, std::size_t bytes);

#if KOKKOS_VERSION >= 40000
using pinned_memory = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using pinned_memory = Kokkos::CudaHostPinnedSpace;
#else
using pinned_memory = memory;
#endif

/// Memory of launches, one after another on a queue; null on a host.
struct launch_memory {
  unsigned* counters = nullptr;  ///< two, 0 between launches
  void* result = nullptr;        ///< 64 bytes that kernels and the host write
};

/// Returns it, for the holder of `acquire`. @throws as `fail_allocation`.
launch_memory memory_of_launches(const space& on);

/// Throws instead of Kokkos's undocumented exceptions: std::bad_alloc on the host, on a device
/// error out_of_memory.
[[noreturn]] void fail_allocation(std::size_t bytes);

}  // namespace tally::backends::kokkos
