// The rooms outside this folder ask this of CUDA, besides running operations.
#pragma once

#include "src/core/table.hpp"

#include <atomic>
#include <cstdint>

namespace tally::backends::cuda {

/// Returns `device` itself, or the calling thread's current device for -1.
/// @throws error no_device with the reason: there is no driver, or there are only so many devices.
int resolve_device(int device);

/// Is what is known for good of CUDA in this process: that it is used, that it can't be, or
/// neither.
enum class use : std::uint8_t { unknown, none, some };
inline std::atomic<use> known_use = use::unknown;

/// Finds out whether this process uses CUDA so far.
bool finds_use() noexcept;

/// Says whether this process uses CUDA, so that a pointer may be a device's. It initialises
/// nothing, and is cheap (a load as a rule), since every call asks it, those on the CPU backends
/// too.
inline bool in_use() noexcept {
  const use known = known_use.load(std::memory_order_relaxed);
  return known == use::unknown ? finds_use() : known == use::some;
}

/// Says who can reach `pointer`. Memory that CUDA does not know is the host's.
place locate(const void* pointer) noexcept;

}  // namespace tally::backends::cuda
