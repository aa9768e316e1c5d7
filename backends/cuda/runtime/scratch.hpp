// Scratch memory is device memory in which the blocks of one launch hand each other their sums:
// words that are empty before and after every launch (words.hpp).
//
// A stream has some of its own, made at its first call that needs one. Launches on a stream
// never overlap, so any number of threads and streams can run at once, and nothing is allocated
// from the second call on. A call that is captured gets as many words as it needs, and its graph
// owns them, since a graph may be launched on any stream and may run its branches side by side.
//
// There are two limits. Two executable graphs made of the same captured graph must not run at the
// same time (they would write the same result too). And if a graph was launched while the row
// offsets of a sparse matrix in it were wrong, its next launch may take sums of that one for its
// own.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace tally::backends::cuda {

/// Says how a launch leaves its words.
enum class words_left {
  empty,
  any,     ///< It may leave some full, whose tag says that they are not the next launch's.
  to_next  ///< It leaves some full for the call's next launch; the last one leaves them empty.
};

/// Is what one launch needs. The caller keeps it until the launch is queued.
struct scratch {
  std::uint64_t* words = nullptr;  ///< as many as the caller asked for; none has the launch's tag
  std::uint32_t tag = 1;  ///< the tag of full words; it is the same in every launch of a graph
  std::uint64_t* ended = nullptr;  ///< the launch counts itself here when it ends; null in a graph
  std::atomic<std::uint64_t>* launched = nullptr;
  std::shared_lock<std::shared_mutex>
      lock;  ///< holds the table, so that this memory is not given to another stream
  /// Holds the words where the call has several launches: none of another thread may come between.
  std::unique_lock<std::mutex> alone;

  /// The caller calls it once the launch is queued, not before: a launch that failed would never
  /// end. The launch counts itself `ends` times.
  void queued(std::uint64_t ends = 1) const {
    if (launched != nullptr) *launched += ends;
  }
};

/// Returns scratch memory of at least `words` words, which are at most `scratch_words` unless they
/// are a graph's. `captured` says whether `stream` is being captured.
scratch scratch_for(const current_device& current, cudaStream_t stream, bool captured,
                    std::size_t words, words_left left = words_left::empty);

class all_scratch;
struct lent_words;

/// Has words for a sequence of launches; the host waits for the last of them. The words are the
/// call's own, because launches of other threads may come in between on the same stream.
class waited_words {
 public:
  static constexpr std::size_t count = 64;

  /// Borrows empty words.
  waited_words(const current_device& current, cudaStream_t stream);
  /// Empties the words where the call failed before the launches did; it waits for the stream
  /// first.
  ~waited_words();
  waited_words(const waited_words&) = delete;
  waited_words& operator=(const waited_words&) = delete;

  std::uint64_t* get() const;
  /// The caller calls it once the last launch has emptied the words: they may go to another call.
  void emptied();

 private:
  all_scratch& from_;
  lent_words* lent_;
  cudaStream_t stream_;
};

}  // namespace tally::backends::cuda
