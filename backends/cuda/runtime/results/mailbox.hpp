// Pinned result buffer of a call that waits: the kernel writes tagged words (words.hpp), which the
// host polls until they carry the call's tag. No copy, event, fence or flag (tuning/short_calls.md:
// result_buffer).
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {

class result_buffer {
 public:
  /// Room for a complex result's two exact sums, of 137 limbs each, or for 137 complex128 results.
  static constexpr int words = 552;

  static result_buffer& of_this_thread(const current_device& current);

  /// Returns the next result's tag, never 0.
  std::uint32_t next_tag() { return tag_ = tag_ == 0xffffffffu ? 1 : tag_ + 1; }

  std::uint64_t* address() { return words_; }

  /// Waits for `count` words with the current tag; returns payloads.
  /// @throws error if the work on `stream` fails first.
  void wait(cudaStream_t stream, int count, std::uint32_t* payload);

  static void make(std::vector<result_buffer*>& to);

 private:
  alignas(64) std::uint64_t words_[words] = {};
  std::uint32_t tag_ = 0;
};

}  // namespace tally::backends::cuda
