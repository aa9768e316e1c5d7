#include "backends/cuda/runtime/results/results.hpp"

#include "backends/cuda/runtime/context.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// A thread's pinned memory for results that don't fit its result_buffer.
class pinned_room {
 public:
  void* of(std::size_t bytes) {
    if (size_ < bytes) {
      const beside_captures mode;
      check(cudaFreeHost(std::exchange(memory_, nullptr)), "cudaFreeHost");
      size_ = 0;
      const std::size_t size = std::bit_ceil(bytes);
      check(cudaHostAlloc(&memory_, size, cudaHostAllocPortable | cudaHostAllocMapped),
            "cudaHostAlloc");
      size_ = size;
    }
    return memory_;
  }

  static void make(std::vector<pinned_room*>& to) {
    auto made = std::make_unique<pinned_room>();
    to.push_back(made.get());
    (void)made.release();
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

results::results(const current_device& current, void* to, std::size_t bytes, bool wait, form how)
    : to_(to), bytes_(bytes), wait_(wait), written_(to) {
  if (!wait) return;
  if (how != as_they_are && bytes <= 4 * result_buffer::words) {
    box_ = &result_buffer::of_this_thread(current);
    written_ = box_->address();
    tag_ = box_->next_tag();
  } else {
    tag_ = how == as_words ? 1 : 0;
    written_ = of_thread<pinned_room>(current.context()).of(tag_ == 0 ? bytes : 2 * bytes);
  }
}

void results::arrive(cudaStream_t stream) const {
  if (!wait_) return;
  if (box_ != nullptr) {
    std::uint32_t payload[result_buffer::words];
    box_->wait(stream, static_cast<int>((bytes_ + 3) / 4), payload);
    std::memcpy(to_, payload, bytes_);
    return;
  }
  const beside_captures mode;
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (tag_ == 0) {
    std::memcpy(to_, written_, bytes_);
    return;
  }
  const auto* const words = static_cast<const std::uint64_t*>(written_);
  for (std::size_t i = 0; i < bytes_ / 4; ++i) {
    const auto payload = static_cast<std::uint32_t>(words[i]);
    std::memcpy(static_cast<char*>(to_) + 4 * i, &payload, 4);
  }
}

}  // namespace tally::backends::cuda
