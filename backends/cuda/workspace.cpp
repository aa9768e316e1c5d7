#include "backends/cuda/workspace.hpp"

#include "backends/cuda/dot_shape.hpp"
#include "backends/cuda/runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Workspaces, of 64 KiB each, are allocated so many at a time, and never freed.
constexpr std::size_t a_slab = 32;

/// With so many streams known, idle ones lose their workspaces before more are allocated: a program
/// that makes a stream for every call stays at 64 MiB.
constexpr std::size_t many_streams = 1024;

class device_workspaces {
 public:
  workspace of_stream(cudaStream_t stream) {
    unsigned long long id = 0;  // unlike the handle, never given to a second stream
    check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    for (;;) {
      {
        std::shared_lock lock(mutex_);
        if (const auto found = streams_.find(id); found != streams_.end()) {
          owned& mine = *found->second;
          return {mine.words, mine.ended, &mine.launched, std::move(lock)};
        }
      }
      const std::unique_lock lock(mutex_);
      if (!streams_.contains(id)) {
        if (streams_.size() >= many_streams) reclaim();
        streams_.emplace(id, take());
      }
    }
  }

  workspace of_graph(cudaGraph_t graph) {
    auto lent = std::make_unique<loan>(loan{this, nullptr});
    {
      const std::unique_lock lock(mutex_);
      lent->what = take();
    }
    std::uint64_t* const words = lent->what->words;
    cudaUserObject_t object = nullptr;
    const cudaError_t made =
        cudaUserObjectCreate(&object, lent.get(), give_back, 1, cudaUserObjectNoDestructorSync);
    if (made != cudaSuccess) give_back(lent.release());
    check(made, "cudaUserObjectCreate");
    (void)lent.release();
    const cudaError_t kept = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (kept != cudaSuccess) (void)cudaUserObjectRelease(object, 1);
    check(kept, "cudaGraphRetainUserObject");
    return {words, nullptr, nullptr, {}};
  }

 private:
  struct owned {
    std::uint64_t* words = nullptr;
    std::uint64_t* ended = nullptr;  // launches that ended, counted by the device
    std::size_t number = 0;          // over all slabs
    std::atomic<std::uint64_t> launched = 0;
  };
  struct loan {
    device_workspaces* from;
    std::unique_ptr<owned> what;
  };

  /// Runs when a graph and all that was instantiated from it are gone, maybe on a thread of CUDA's
  /// own: it must make no CUDA call, and wait for nobody who makes one.
  static void give_back(void* p) {
    const std::unique_ptr<loan> ended(static_cast<loan*>(p));
    const std::lock_guard lock(ended->from->returned_mutex_);
    ended->from->returned_.push_back(std::move(ended->what));
  }

  /// A workspace that nobody has. `mutex_` is held, as in the functions below.
  std::unique_ptr<owned> take() {
    if (free_.empty()) {
      const std::lock_guard lock(returned_mutex_);
      std::move(returned_.begin(), returned_.end(), std::back_inserter(free_));
      returned_.clear();
    }
    if (free_.empty()) allocate();
    std::unique_ptr<owned> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }

  void allocate() {
    const beside_captures mode;
    constexpr std::size_t words = a_slab * workspace_words;
    constexpr std::size_t bytes = (words + a_slab) * sizeof(std::uint64_t);
    if (own_stream_ == nullptr) {
      check(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
    }
    std::uint64_t* slab = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&slab), bytes), "cudaMalloc");
    check(cudaMemsetAsync(slab, 0, bytes, own_stream_), "cudaMemsetAsync");
    check(cudaStreamSynchronize(own_stream_), "cudaStreamSynchronize");
    for (std::size_t i = 0; i < a_slab; ++i) {
      auto& made = free_.emplace_back(std::make_unique<owned>());
      made->words = slab + i * workspace_words;
      made->ended = slab + words + i;
      made->number = ended_.size() * a_slab + i;
    }
    ended_.push_back(slab + words);
  }

  /// Takes their workspaces from the streams whose launches have all ended. None is being launched,
  /// since launches hold `mutex_`; and nothing waits for the streams, which may long be destroyed.
  void reclaim() {
    const beside_captures mode;
    std::vector<std::uint64_t> ended(ended_.size() * a_slab);
    for (std::size_t i = 0; i < ended_.size(); ++i) {
      check(cudaMemcpyAsync(&ended[i * a_slab], ended_[i], a_slab * sizeof ended[0],
                            cudaMemcpyDeviceToHost, own_stream_),
            "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(own_stream_), "cudaStreamSynchronize");
    for (auto it = streams_.begin(); it != streams_.end();) {
      if (it->second->launched == ended[it->second->number]) {
        free_.push_back(std::move(it->second));
        it = streams_.erase(it);
      } else {
        ++it;
      }
    }
  }

  std::shared_mutex mutex_;
  std::unordered_map<unsigned long long, std::unique_ptr<owned>> streams_;
  std::vector<std::unique_ptr<owned>> free_;
  std::vector<const std::uint64_t*> ended_;  // the counts of a slab
  cudaStream_t own_stream_ = nullptr;

  std::mutex returned_mutex_;  // never held over a CUDA call
  std::vector<std::unique_ptr<owned>> returned_;
};

device_workspaces& workspaces_of(int device) {
  // Never destroyed: graphs may give workspaces back while the program ends.
  static auto& all = *new std::array<std::atomic<device_workspaces*>, 256>();
  auto& mine = all.at(static_cast<std::size_t>(device));
  if (device_workspaces* const there = mine.load(std::memory_order_acquire)) return *there;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (mine.load(std::memory_order_relaxed) == nullptr) {
    mine.store(new device_workspaces, std::memory_order_release);
  }
  return *mine.load(std::memory_order_relaxed);
}

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

/// The calling thread's, of each device; null while they are in use.
std::uint64_t*& words_of_thread(int device) {
  struct held {
    std::map<int, std::uint64_t*> words;
    ~held() {
      for (const auto& [device, memory] : words) (void)cudaFree(memory);
    }
  };
  thread_local held mine;
  return mine.words[device];
}

}  // namespace

waited_words::waited_words(int device, cudaStream_t stream)
    : device_(device), words_(std::exchange(words_of_thread(device), nullptr)) {
  if (words_ != nullptr) return;
  const beside_captures mode;
  check(cudaMalloc(reinterpret_cast<void**>(&words_), count * sizeof(std::uint64_t)), "cudaMalloc");
  check(cudaMemsetAsync(words_, 0, count * sizeof(std::uint64_t), stream), "cudaMemsetAsync");
}

void waited_words::emptied() { words_of_thread(device_) = words_; }

workspace workspace_for(int device, cudaStream_t stream, bool captured) {
  device_workspaces& all = workspaces_of(device);
  return captured ? all.of_graph(captured_graph(stream)) : all.of_stream(stream);
}

}  // namespace tally::backends::cuda
