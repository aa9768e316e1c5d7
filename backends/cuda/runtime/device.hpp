// What the core asks of CUDA besides running an operation.
#pragma once

#include "src/core/table.hpp"

namespace tally::backends::cuda {

/// `device` itself, or the calling thread's current device for -1.
/// @throws error no_device with the reason: no driver, or how many devices there are.
int resolve_device(int device);

/// Whether this process uses CUDA, so that a pointer may be a device's. Cheap (a few ns): asked at
/// every call, also of the CPU backends. Initialises nothing.
bool in_use() noexcept;

/// Who can reach `pointer`. Memory that CUDA does not know is the host's.
place locate(const void* pointer) noexcept;

}  // namespace tally::backends::cuda
