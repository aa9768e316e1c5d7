#include "backends/cuda/runtime/scratch.hpp"

#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/runtime/context.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tally::backends::cuda {

/// Words of a graph or a call.
struct lent_words {
  all_scratch* from = nullptr;
  std::uint64_t* words = nullptr;
  std::size_t count = 0;
  words_left left = words_left::empty;  ///< how they come back
  lent_words* next = nullptr;           ///< in a list
};

class all_scratch {
 public:
  scratch of_stream(cudaStream_t stream, std::size_t words, words_left left) {
    unsigned long long id = 0;  // unlike the handle, never reused
    check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    auto& streams = streams_[static_cast<std::size_t>(left)];
    auto& free = free_[static_cast<std::size_t>(left)];
    for (;;) {
      {
        std::shared_lock lock(mutex_);
        const auto found = streams.find(id);
        if (found != streams.end() && found->second->count >= words) {
          owned& own = *found->second;
          scratch shared{own.words, 1, own.ended, &own.launched, std::move(lock), {}};
          if (left == words_left::any) shared.tag = own.next_tag();
          if (left == words_left::to_next) shared.alone = std::unique_lock(own.alone);
          return shared;
        }
      }
      const std::unique_lock lock(mutex_);
      if (!streams.contains(id)) {
        if (streams.size() >= many_streams) reclaim(streams, free);
        if (free.empty()) free.push_back(make());
        streams.emplace(id, std::move(free.back()));
        free.pop_back();
      }
      if (owned& own = *streams.at(id); own.count < words) {
        // Earlier launches may still use the old words, which stay.
        own.words = cut(std::bit_ceil(words));
        own.count = std::bit_ceil(words);
      }
    }
  }

  scratch of_graph(cudaGraph_t graph, std::size_t count, words_left left) {
    lent_words* const lent = lend(count, left);
    cudaUserObject_t object = nullptr;
    const cudaError_t made =
        cudaUserObjectCreate(&object, lent, give_back, 1, cudaUserObjectNoDestructorSync);
    if (made != cudaSuccess) give_back(lent);
    check(made, "cudaUserObjectCreate");
    const cudaError_t kept = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (kept != cudaSuccess) (void)cudaUserObjectRelease(object, 1);
    check(kept, "cudaGraphRetainUserObject");
    return {lent->words, 1, nullptr, nullptr, {}, {}};
  }

  /// Lends at least `count` empty words.
  lent_words* lend(std::size_t count, words_left left) {
    // At most eight sizes between powers of two, so that words of many graphs are reused.
    const std::size_t step = std::max(words_of_line, std::bit_floor(count) / 8);
    count = (count + step - 1) / step * step;
    const std::unique_lock lock(mutex_);
    for (lent_words* back = returned(); back != nullptr;) {
      lent_words* const next = std::exchange(back->next, idle_[back->count]);
      idle_[back->count] = back;
      back = next;
    }
    lent_words*& idle = idle_[count];
    if (idle != nullptr) {
      if (idle->left == words_left::any) empty(*idle);
      idle->left = left;
      return std::exchange(idle, idle->next);
    }
    auto made = std::make_unique<lent_words>(lent_words{this, nullptr, count, left, nullptr});
    made->words = cut(count);
    return made.release();
  }

  /// Called when a graph and all its instances are gone, maybe on a thread of CUDA's own: it must
  /// make no CUDA call, nor wait for one.
  static void give_back(void* p) {
    auto* const lent = static_cast<lent_words*>(p);
    const std::lock_guard lock(lent->from->returned_mutex_);
    lent->next = std::exchange(lent->from->returned_, lent);
  }

  /// Pre: no launch uses the words.
  void empty(const lent_words& lent) { put_zeros(lent.words, lent.count); }

 private:
  struct owned {
    std::uint64_t* words = nullptr;
    std::size_t count = scratch_words;
    std::uint64_t* ended = nullptr;  // number of ended launches, by the device
    std::size_t number = 0;
    std::atomic<std::uint64_t> launched = 0;
    std::atomic<std::uint32_t> last_tag = 0;
    std::mutex alone;

    std::uint32_t next_tag() {
      const std::uint32_t tag = ++last_tag;
      return tag != 0 ? tag : ++last_tag;
    }
  };

  using of_streams = std::unordered_map<unsigned long long, std::unique_ptr<owned>>;

  /// Slabs of 2 MiB, never freed, are cut in multiples of 128 bytes. Larger requests have their
  /// own.
  static constexpr std::size_t words_of_slab = std::size_t{1} << 18;
  static constexpr std::size_t words_of_line = 16;

  /// Streams whose counters are contiguous.
  static constexpr std::size_t counts_of_batch = 32;

  /// Streams before idle ones lose their memory: a program with a stream per call stays at 64 MiB.
  static constexpr std::size_t many_streams = 1024;

  // Pre, from here on: the caller holds `mutex_`.

  std::uint64_t* cut(std::size_t count) {
    if (count >= words_of_slab) return slab_of(count);  // the rest of another slab stays
    if (left_ < count) {
      rest_ = slab_of(words_of_slab);
      left_ = words_of_slab;
    }
    left_ -= count;
    return std::exchange(rest_, rest_ + count);
  }

  /// Returns empty words, never freed.
  std::uint64_t* slab_of(std::size_t words) {
    const beside_captures mode;
    if (own_stream_ == nullptr) {
      check(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
    }
    void* slab = nullptr;
    check(cudaMalloc(&slab, words * sizeof(std::uint64_t)), "cudaMalloc");
    try {
      put_zeros(static_cast<std::uint64_t*>(slab), words);
    } catch (const error&) {
      (void)cudaFree(slab);
      throw;
    }
    return static_cast<std::uint64_t*>(slab);
  }

  void put_zeros(std::uint64_t* words, std::size_t count) {
    const beside_captures mode;
    check(cudaMemsetAsync(words, 0, count * sizeof(std::uint64_t), own_stream_), "cudaMemsetAsync");
    check(cudaStreamSynchronize(own_stream_), "cudaStreamSynchronize");
  }

  std::unique_ptr<owned> make() {
    if (ended_.size() * counts_of_batch == made_) ended_.push_back(cut(counts_of_batch));
    auto made = std::make_unique<owned>();
    made->words = cut(scratch_words);
    made->ended = ended_.back() + made_ % counts_of_batch;
    made->number = made_++;
    return made;
  }

  /// Takes the memory of streams whose launches have all ended. None begins meanwhile: launches
  /// hold `mutex_`. Waits for no stream; it may be long destroyed.
  void reclaim(of_streams& streams, std::vector<std::unique_ptr<owned>>& free) {
    const beside_captures mode;
    std::vector<std::uint64_t> ended(ended_.size() * counts_of_batch);
    for (std::size_t i = 0; i < ended_.size(); ++i) {
      check(cudaMemcpyAsync(&ended[i * counts_of_batch], ended_[i],
                            counts_of_batch * sizeof ended[0], cudaMemcpyDeviceToHost, own_stream_),
            "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(own_stream_), "cudaStreamSynchronize");
    for (auto it = streams.begin(); it != streams.end();) {
      if (it->second->launched == ended[it->second->number]) {
        free.push_back(std::move(it->second));
        it = streams.erase(it);
      } else {
        ++it;
      }
    }
  }

  lent_words* returned() {
    const std::lock_guard lock(returned_mutex_);
    return std::exchange(returned_, nullptr);
  }

  std::shared_mutex mutex_;
  of_streams streams_[3];  // by words_left
  std::vector<std::unique_ptr<owned>> free_[3];
  std::size_t made_ = 0;
  std::vector<std::uint64_t*> ended_;        // each batch's counters
  std::map<std::size_t, lent_words*> idle_;  // lists of words, by size
  std::uint64_t* rest_ = nullptr;            // of a slab
  std::size_t left_ = 0;
  cudaStream_t own_stream_ = nullptr;

  std::mutex returned_mutex_;  // never held over a CUDA call
  lent_words* returned_ = nullptr;
};

namespace {

cudaGraph_t captured_graph(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr),
        "cudaStreamGetCaptureInfo");
#else
  check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr),
        "cudaStreamGetCaptureInfo");
#endif
  return graph;
}

}  // namespace

scratch scratch_for(const current_device& current, cudaStream_t stream, bool captured,
                    std::size_t words, words_left left) {
  auto& all = of_context<all_scratch>(current.context());
  return captured ? all.of_graph(captured_graph(stream), words, left)
                  : all.of_stream(stream, words, left);
}

waited_words::waited_words(const current_device& current, cudaStream_t stream)
    : from_(of_context<all_scratch>(current.context())),
      lent_(from_.lend(count, words_left::empty)),
      stream_(stream) {}

waited_words::~waited_words() {
  if (lent_ == nullptr) return;
  const beside_captures mode;
  try {
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    from_.empty(*lent_);
    emptied();
  } catch (const error&) {  // The context has failed, and its memory with it.
  }
}

std::uint64_t* waited_words::get() const { return lent_->words; }

void waited_words::emptied() { all_scratch::give_back(std::exchange(lent_, nullptr)); }

}  // namespace tally::backends::cuda
