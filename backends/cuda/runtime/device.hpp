// CUDA for other folders, besides operations.
#pragma once

#include "backends/backend.hpp"

#include <atomic>
#include <cstdint>

namespace tally::backends::cuda {

/// Returns `device`, or the calling thread's for -1.
/// @throws error no_device: no driver, or fewer devices.
int resolve_device(int device);

/// Whether this process uses CUDA: `some` and `none` are final.
enum class use : std::uint8_t { unknown, none, some };
inline std::atomic<use> known_use = use::unknown;

bool finds_use() noexcept;

/// Whether a pointer may be a device's. Initialises nothing; usually a load, since every call asks,
/// on CPU backends, too.
inline bool in_use() noexcept {
  const use known = known_use.load(std::memory_order_relaxed);
  return known == use::unknown ? finds_use() : known == use::some;
}

/// Returns who can reach `pointer`: the host, if CUDA does not know it.
place locate(const void* pointer) noexcept;

}  // namespace tally::backends::cuda
