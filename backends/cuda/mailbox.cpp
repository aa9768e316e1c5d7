#include "backends/cuda/mailbox.hpp"

#include "backends/cuda/runtime.hpp"
#include "backends/cuda/words.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Mailboxes that no thread has. They are made 64 at a time and never freed.
class pool {
 public:
  mailbox* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      constexpr std::size_t count = 64;
      const beside_captures mode;
      void* memory = nullptr;
      check(cudaHostAlloc(&memory, count * sizeof(mailbox),
                          cudaHostAllocPortable | cudaHostAllocMapped),
            "cudaHostAlloc");
      auto* const made = static_cast<mailbox*>(memory);
      for (std::size_t i = 0; i < count; ++i) free_.push_back(new (made + i) mailbox);
    }
    mailbox* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(mailbox* box) {
    const std::lock_guard lock(mutex_);
    free_.push_back(box);
  }

 private:
  std::mutex mutex_;
  std::vector<mailbox*> free_;
};

pool& all() {
  static pool& made = *new pool;  // never destroyed: threads may end after static objects
  return made;
}

}  // namespace

mailbox& mailbox::mine() {
  struct holder {
    mailbox* box = nullptr;
    ~holder() {
      if (box != nullptr) all().give_back(box);
    }
  };
  thread_local holder held;
  if (held.box == nullptr) held.box = all().take();
  return *held.box;
}

void mailbox::wait(cudaStream_t stream, int count, std::uint32_t* payload) {
  using clock = std::chrono::steady_clock;
  const auto arrived = [&] {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t word = std::atomic_ref(words_[i]).load(std::memory_order_acquire);
      if (tag_of(word) != tag_) return false;
      payload[i] = static_cast<std::uint32_t>(word);
    }
    return true;
  };
  // Looking is fastest, but it keeps a core busy and would never see a kernel fail. So after a
  // millisecond, long beside the cost of waking up, the runtime waits, in the way that the program
  // chose with cudaSetDeviceFlags.
  constexpr auto patience = std::chrono::milliseconds(1);
  const auto start = clock::now();
  do {
    for (int look = 0; look < 64; ++look) {
      if (arrived()) return;
    }
  } while (clock::now() - start < patience);
  const beside_captures mode;
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (!arrived()) {
    throw error(errc::device_failure,
                "tally::cuda: the stream ended its work and no result arrived");
  }
}

}  // namespace tally::backends::cuda
