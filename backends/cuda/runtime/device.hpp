// The rooms outside this folder ask this of CUDA, besides running operations.
#pragma once

#include "src/core/table.hpp"

namespace tally::backends::cuda {

/// Returns `device` itself, or the calling thread's current device for -1.
/// @throws error no_device with the reason: there is no driver, or there are only so many devices.
int resolve_device(int device);

/// Says whether this process uses CUDA, so that a pointer may be a device's. It initialises
/// nothing, and is cheap (a few ns), since every call asks it, those on the CPU backends too.
bool in_use() noexcept;

/// Says who can reach `pointer`. Memory that CUDA does not know is the host's.
place locate(const void* pointer) noexcept;

}  // namespace tally::backends::cuda
