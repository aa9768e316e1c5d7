// What the core asks of Kokkos besides running an operation.
#pragma once

#include <cstddef>
#include <mutex>

namespace tally::backends::kokkos {

/// Initialises Kokkos if nobody has, to be finalised at exit.
/// @throws error no_device if Kokkos is finalised already, or its device is not here.
void initialize();

/// Holds Kokkos for one caller, which may then call it: its default execution space serves one host
/// thread at a time.
/// @throws error no_device if Kokkos is not initialised or finalised already.
[[nodiscard]] std::unique_lock<std::mutex> acquire();

/// Memory of the default execution space, of at least this many bytes, for the holder of `acquire`.
/// Calls reuse it, since they follow one another on the space's default instance, and so do their
/// kernels. It grows as needed, contents lost, and goes when Kokkos is finalised.
/// @throws as `fail_allocation`.
void* scratch(std::size_t bytes);

/// Throws where Kokkos has no memory, whose own exceptions nobody knows: std::bad_alloc on the
/// host, on a device error out_of_memory.
[[noreturn]] void fail_allocation(std::size_t bytes);

}  // namespace tally::backends::kokkos
