// Device memory in which the blocks of one launch hand each other their sums: words that are empty
// before and after every launch (words.hpp).
//
// A stream has a workspace of its own, made at its first call that needs one: launches on a stream
// never overlap, so any number of threads and streams can run at once, and nothing is allocated
// from the second call on. A call that is captured gets a workspace that its graph owns, since a
// graph may be launched on any stream.
//
// Limits: two executable graphs made of the same captured graph must not run at the same time (they
// would write the same result too); workspaces don't survive cudaDeviceReset.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>

namespace tally::backends::cuda {

/// For one launch; to be kept until that is queued.
struct workspace {
  std::uint64_t* words = nullptr;  ///< `workspace_words` of them, empty
  std::uint64_t* ended = nullptr;  ///< where the launch counts itself when it ends; null in a graph
  std::atomic<std::uint64_t>* launched = nullptr;
  std::shared_lock<std::shared_mutex>
      lock;  ///< on the table: this one is not given to another stream

  /// To be called once the launch is queued: a failed one would never end. `ends` is how often it
  /// counts itself.
  void queued(std::uint64_t ends = 1) const {
    if (launched != nullptr) *launched += ends;
  }
};

/// Words for a sequence of launches, on a device that is current, of which the host waits for the
/// last. They are the calling thread's own: on the same stream other threads' launches may come in
/// between.
class waited_words {
 public:
  static constexpr std::size_t count = 64;

  /// They are empty for launches on `stream`.
  waited_words(int device, cudaStream_t stream);
  waited_words(const waited_words&) = delete;
  waited_words& operator=(const waited_words&) = delete;

  std::uint64_t* get() const { return words_; }
  /// To be called once the last launch has emptied them. Otherwise they are not used again.
  void emptied();

 private:
  int device_;
  std::uint64_t* words_;
};

/// `device` is current; `captured` says whether `stream` is being captured.
workspace workspace_for(int device, cudaStream_t stream, bool captured);

}  // namespace tally::backends::cuda
