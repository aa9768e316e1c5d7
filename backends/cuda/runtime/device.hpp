// What other folders need of CUDA, besides running operations.
#pragma once

#include "src/core/table.hpp"

#include <atomic>
#include <cstdint>

namespace tally::backends::cuda {

/// Returns `device`, or the calling thread's current device for -1.
/// @throws error no_device with the reason: no driver, or fewer devices.
int resolve_device(int device);

/// Whether this process uses CUDA: `some` and `none` are final.
enum class use : std::uint8_t { unknown, none, some };
inline std::atomic<use> known_use = use::unknown;

/// Finds out whether this process uses CUDA so far.
bool finds_use() noexcept;

/// Whether this process uses CUDA, so that a pointer may be a device's. Initialises nothing, and is
/// cheap (usually a load), since every call asks, on CPU backends, too.
inline bool in_use() noexcept {
  const use known = known_use.load(std::memory_order_relaxed);
  return known == use::unknown ? finds_use() : known == use::some;
}

/// Returns who can reach `pointer`. Memory unknown to CUDA is the host's.
place locate(const void* pointer) noexcept;

}  // namespace tally::backends::cuda
