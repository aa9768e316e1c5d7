// The device of Kokkos's default execution space, by its vendor's runtime.
#pragma once

#include "backends/backend.hpp"
#include "backends/kokkos/runtime/runtime.hpp"

#include <cstdint>

namespace tally::backends::kokkos {

/// Throws error no_device if kernels can't run here: Kokkos itself would abort.
void require_device();

/// Device of an instance; `place::none` on a host. Pre: Kokkos is initialised.
int device_of(const space& on);

/// What an instance's work is in order on: the stream, or the instance itself.
std::uintptr_t queue_of(const space& on);

/// Page-locks host memory, and undoes it. @throws error invalid_argument if some is locked already,
/// or none is locked there, and on SYCL, which can't; device_failure.
void lock_pages(void* memory, std::size_t bytes);
void unlock_pages(void* memory);

}  // namespace tally::backends::kokkos
