// Calls through a workspace, and its memory.
#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/staged/stages.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tally::backends::cuda::staged {

class grown_memory {
 public:
  /// Returns uninitialised memory, which only grows.
  void* of(std::size_t bytes);
  ~grown_memory() { free(); }
  grown_memory() = default;
  grown_memory(const grown_memory&) = delete;
  grown_memory& operator=(const grown_memory&) = delete;

 private:
  void free() noexcept;

  int device_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

struct workspace_memory {
  stages through;
  grown_memory words;           ///< of exact sums
  grown_memory counts;          ///< and of samples outside
  std::recursive_mutex in_use;  ///< recursive for operations that call others
};

/// A call, with nested ones, which has the workspace for itself.
class call {
 public:
  /// @throws error invalid_argument if the stream is being captured.
  explicit call(workspace_memory& memory);

  stages& through() const { return memory_.through; }
  workspace_memory& memory() const { return memory_; }
  /// The cuda executor that does the work.
  const executor& on() const { return memory_.through.on(); }
  cudaStream_t stream() const { return on().stream(); }

 private:
  workspace_memory& memory_;
  std::lock_guard<std::recursive_mutex> lock_;
  current_device current_;
  beside_captures mode_;
};

/// Results in host memory are written by the host, or by a call that waits.
struct result_place {
  explicit result_place(const void* result);
  bool on_host;
};

/// Adds a sum's limbs on the device, in normal form however many parts were added, to the caller's,
/// of the sum `to.element`.
void add_words(const call& c, const std::int64_t* from, const output& to);

void deliver(const call& c, const void* made, std::size_t bytes, void* to);

}  // namespace tally::backends::cuda::staged
