#include "backends/cuda/runtime/results/mailbox.hpp"

#include "backends/cuda/device/words.hpp"
#include "backends/cuda/runtime/context.hpp"

#include <atomic>
#include <chrono>
#include <new>

namespace tally::backends::cuda {
result_buffer& result_buffer::of_this_thread(const current_device& current) {
  return of_thread<result_buffer>(current.context());
}

void result_buffer::make(std::vector<result_buffer*>& to) {
  constexpr std::size_t count = 64;
  const beside_captures mode;
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(result_buffer),
                      cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  auto* const made = static_cast<result_buffer*>(memory);
  for (std::size_t i = 0; i < count; ++i) to.push_back(new (made + i) result_buffer);
}

void result_buffer::wait(cudaStream_t stream, int count, std::uint32_t* payload) {
  using clock = std::chrono::steady_clock;
  const auto arrived = [&] {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t word = std::atomic_ref(words_[i]).load(std::memory_order_acquire);
      if (tag_of(word) != tag_) return false;
      payload[i] = static_cast<std::uint32_t>(word);
    }
    return true;
  };
  // Polling is fastest, but keeps a core busy and would never see a kernel fail. So after a time
  // that is long beside waking up, the runtime waits, as chosen with cudaSetDeviceFlags.
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
