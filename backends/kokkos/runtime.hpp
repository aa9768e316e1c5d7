// Kokkos's initialization, lock and scratch memory.
#pragma once

#include <cstddef>
#include <mutex>

namespace tally::backends::kokkos {

/// Initialises Kokkos if it is not, to be finalised at exit. @throws error no_device if Kokkos is
/// finalised, or its device is absent.
void initialize();

/// Returns the lock for calls of Kokkos, whose default execution space serves one host thread at a
/// time. @throws error no_device if Kokkos is not initialised or already finalised.
[[nodiscard]] std::unique_lock<std::mutex> acquire();

/// Returns at least `bytes` of the default execution space's memory, for the holder of `acquire`.
/// Reused by calls, whose kernels are in order on the default instance. Grows as needed, contents
/// lost; freed when Kokkos is finalised. @throws as `fail_allocation`.
void* scratch(std::size_t bytes);

/// Throws instead of Kokkos's undocumented exceptions: std::bad_alloc on the host, on a device
/// error out_of_memory.
[[noreturn]] void fail_allocation(std::size_t bytes);

}  // namespace tally::backends::kokkos
