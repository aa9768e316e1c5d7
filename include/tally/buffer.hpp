// Memory for an executor's kernels.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tally {

/// Who reaches a buffer: kernels, or also host code. On a device its memory, or pinned host memory,
/// read and written over the bus; no difference on CPU backends.
enum class reach : std::uint8_t { kernels, kernels_and_host };

/// Allocates uninitialised memory, aligned to 64 bytes or more, on CUDA on the executor's device.
/// Blocks.
/// @throws error out_of_memory, device_failure; invalid_argument for `automatic()`.
TALLY_EXPORT void* allocate(const executor& where, std::size_t bytes, reach who = reach::kernels);

/// Frees memory, with the arguments of its allocation. Pre: not in use (CUDA: waits for the
/// device). Null is allowed.
TALLY_EXPORT void deallocate(const executor& where, void* memory, reach who) noexcept;

/// Copies bytes between memory of the host or the executor. Blocks; on CUDA queued on the
/// executor's stream.
/// @throws error null_pointer, wrong_memory, device_failure.
TALLY_EXPORT void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes);

/// Page-locks the caller's memory until `unpin`, for full bus speed on a device; no-op on CPU
/// backends. Costs at least one read of it: pays for reuse.
/// @throws error null_pointer; invalid_argument for pinned memory, 0 bytes and `automatic()`;
///               out_of_memory, device_failure.
TALLY_EXPORT void pin(const executor& where, void* memory, std::size_t bytes);

/// Undoes `pin`. Pre: not in use.
/// @throws error null_pointer; invalid_argument for an address that `pin` was not called with, and
///               `automatic()`; device_failure.
TALLY_EXPORT void unpin(const executor& where, void* memory);

/// Owns memory for an executor's kernels. Movable only.
class buffer {
 public:
  /// Empty.
  buffer() = default;
  /// See `allocate`.
  buffer(const executor& where, std::size_t bytes, reach who = reach::kernels)
      : where_(where), who_(who), bytes_(bytes), memory_(allocate(where, bytes, who)) {}
  /// Takes the other's memory.
  buffer(buffer&& other) noexcept
      : where_(other.where_),
        who_(other.who_),
        bytes_(std::exchange(other.bytes_, 0)),
        memory_(std::exchange(other.memory_, nullptr)) {}
  /// Swaps.
  buffer& operator=(buffer&& other) noexcept {
    std::swap(where_, other.where_);
    std::swap(who_, other.who_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~buffer() { deallocate(where_, memory_, who_); }

  /// The memory; null if empty.
  void* get() const noexcept { return memory_; }
  /// Size in bytes.
  std::size_t bytes() const noexcept { return bytes_; }
  /// The executor of the allocation.
  const executor& where() const noexcept { return where_; }

 private:
  executor where_ = serial();
  reach who_ = reach::kernels;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

}  // namespace tally
