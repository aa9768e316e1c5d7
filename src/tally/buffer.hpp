// Memory that an executor's kernels can reach, for programs without a binding to its runtime: a
// header or a script that works for every executor.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tally {

/// Who reaches the memory of a buffer: kernels, at full speed, or the host's code too. For the CPU
/// backends there is no difference; on CUDA it is device memory, or pinned host memory, which
/// kernels read and write over the bus.
enum class reach : std::uint8_t { kernels, kernels_and_host };

/// Allocates memory that the executor's kernels can reach, aligned to 64 bytes or more, not
/// written. Blocks. On CUDA it belongs to the executor's device.
/// @throws error out_of_memory, device_failure; invalid_argument for `automatic()`, which has no
///               memory of its own.
TALLY_EXPORT void* allocate(const executor& where, std::size_t bytes, reach who = reach::kernels);

/// Frees it, with the arguments that it was allocated with. Work that uses it must be done: on CUDA
/// the call waits for the device. Null is nothing.
TALLY_EXPORT void deallocate(const executor& where, void* memory, reach who) noexcept;

/// Copies bytes from and to memory of the host or of the executor. Blocks until they are there; on
/// CUDA the copy is queued on the executor's stream.
/// @throws error null_pointer, wrong_memory, device_failure.
TALLY_EXPORT void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes);

/// Keeps pages of the caller's memory in their place, until `unpin`: a device then reads and writes
/// them at the full speed of its bus, with no copy on the host. On the CPU backends it does
/// nothing. It takes as long as reading the memory once, or longer, so it pays for memory that is
/// used again.
/// @throws error null_pointer; invalid_argument for memory that is pinned already, for 0 bytes, and
///               for `automatic()`; out_of_memory, device_failure.
TALLY_EXPORT void pin(const executor& where, void* memory, std::size_t bytes);

/// Lets pages go that `pin` has kept. Work that uses them must be done.
/// @throws error null_pointer; invalid_argument for an address that `pin` was not called with, and
///               for `automatic()`; device_failure.
TALLY_EXPORT void unpin(const executor& where, void* memory);

/// Owns memory that an executor's kernels can reach. It can be moved but not copied.
class buffer {
 public:
  /// It has no bytes.
  buffer() = default;
  /// See `allocate`.
  buffer(const executor& where, std::size_t bytes, reach who = reach::kernels)
      : where_(where), who_(who), bytes_(bytes), memory_(allocate(where, bytes, who)) {}
  /// Takes the memory of another one.
  buffer(buffer&& other) noexcept
      : where_(other.where_),
        who_(other.who_),
        bytes_(std::exchange(other.bytes_, 0)),
        memory_(std::exchange(other.memory_, nullptr)) {}
  /// Exchanges them.
  buffer& operator=(buffer&& other) noexcept {
    std::swap(where_, other.where_);
    std::swap(who_, other.who_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~buffer() { deallocate(where_, memory_, who_); }

  /// The memory; null of no bytes.
  void* get() const noexcept { return memory_; }
  /// How many bytes it has.
  std::size_t bytes() const noexcept { return bytes_; }
  /// The executor that it was made for.
  const executor& where() const noexcept { return where_; }

 private:
  executor where_ = serial();
  reach who_ = reach::kernels;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

}  // namespace tally
