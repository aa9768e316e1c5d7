// Device memory in which the blocks of one launch hand each other their sums: words that are empty
// before and after every launch (words.hpp).
//
// A stream has a workspace of its own, made at its first call that needs one: launches on a stream
// never overlap, so any number of threads and streams can run at once, and nothing is allocated
// from the second call on. A call that is captured gets as many words as it needs, which its graph
// owns, since a graph may be launched on any stream and may run its branches side by side.
//
// Limits: two executable graphs made of the same captured graph must not run at the same time (they
// would write the same result too). A graph that was launched while the row offsets of a sparse
// matrix in it were wrong may take sums of that launch for the next one's.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>

namespace tally::backends::cuda {

/// This says how a launch leaves its words.
enum class words_left {
  empty,
  any  ///< It may leave some full, whose tag says that they are not the next launch's.
};

/// For one launch; to be kept until that is queued.
struct workspace {
  std::uint64_t* words = nullptr;  ///< as many as were asked for, none with the launch's tag
  std::uint32_t tag = 1;           ///< of full words; the same in every launch of a graph
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

/// `captured` says whether `stream` is being captured; `words` are at most `workspace_words`.
workspace workspace_for(const current_device& current, cudaStream_t stream, bool captured,
                        std::size_t words, words_left left = words_left::empty);

class workspaces;
struct lent_words;

/// Words for a sequence of launches, of which the host waits for the last. They are the call's own:
/// on the same stream other threads' launches may come in between.
class waited_words {
 public:
  static constexpr std::size_t count = 64;

  /// They are empty.
  waited_words(const current_device& current, cudaStream_t stream);
  /// Where the call failed before they were emptied, it waits for the stream and empties them.
  ~waited_words();
  waited_words(const waited_words&) = delete;
  waited_words& operator=(const waited_words&) = delete;

  std::uint64_t* get() const;
  /// To be called once the last launch has emptied them: they may go to another call.
  void emptied();

 private:
  workspaces& from_;
  lent_words* lent_;
  cudaStream_t stream_;
};

}  // namespace tally::backends::cuda
