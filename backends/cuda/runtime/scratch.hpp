// Scratch memory: device memory in which the blocks of a launch hand over sums, as words that are
// empty before and after it (words.hpp; for exceptions words_left).
//
// Each stream has its own, made at its first call: launches on a stream never overlap. A captured
// call's graph owns its words, since it may be launched on any stream and run branches side by
// side.
//
// Limits: two executable graphs of the same captured graph must not run at once (they would write
// the same result, too). If a graph was launched while the row offsets of a sparse matrix in it
// were wrong, its next launch may take that one's sums for its own.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace tally::backends::cuda {

/// How a launch leaves its words.
enum class words_left {
  empty,
  any,     ///< some full, with tags other than the next launch's
  to_next  ///< some full, for the call's next launch; none after the last
};

/// What one launch needs, until it is queued.
struct scratch {
  std::uint64_t* words = nullptr;  ///< none has the launch's tag
  std::uint32_t tag = 1;           ///< of full words; the same in every launch of a graph
  std::uint64_t* ended = nullptr;  ///< counter of ended launches; null in a graph
  std::atomic<std::uint64_t>* launched = nullptr;
  std::shared_lock<std::shared_mutex> lock;  ///< keeps this memory from other streams
  /// Held by a call of several launches, against other threads' in between.
  std::unique_lock<std::mutex> alone;

  /// Called after the launch is queued: a failed one would never end. `ends`: how often it counts
  /// itself.
  void queued(std::uint64_t ends = 1) const {
    if (launched != nullptr) *launched += ends;
  }
};

/// Returns at least `words` words. A stream's first `scratch_words` need no allocation; what it
/// needs beyond it keeps, twice that at most.
scratch scratch_for(const current_device& current, cudaStream_t stream, bool captured,
                    std::size_t words, words_left left = words_left::empty);

class all_scratch;
struct lent_words;

/// Words for launches whose last the host waits for. They are the call's own: other threads'
/// launches may come between on the stream.
class waited_words {
 public:
  static constexpr std::size_t count = 64;

  waited_words(const current_device& current, cudaStream_t stream);
  /// If the call failed first, waits for the stream and empties the words.
  ~waited_words();
  waited_words(const waited_words&) = delete;
  waited_words& operator=(const waited_words&) = delete;

  std::uint64_t* get() const;
  /// Called once the last launch has emptied the words, for another call.
  void emptied();

 private:
  all_scratch& from_;
  lent_words* lent_;
  cudaStream_t stream_;
};

}  // namespace tally::backends::cuda
