// A call that waits gets its result through a mailbox: the kernel writes words (words.hpp) into
// pinned host memory, and the host looks at them until they carry the call's tag. That needs no
// copy, no event and no flag. From 2^10 to 2^20 doubles such a call takes 8 to 10 us on an H200;
// with a fence and a flag 0.4 us more, with cudaStreamSynchronize 1.5 to 2 us more, with a copy 18
// to 19 us; cuBLAS takes 22 to 26.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace tally::backends::cuda {

/// The calling thread's results arrive here.
class mailbox {
 public:
  /// It has room for the two exact sums of a complex result, which are 274 numbers of 64 bits, or
  /// for 137 results of complex128 at once. (One of transform_reduce may have 128 bytes.)
  static constexpr int words = 552;

  /// Returns the calling thread's mailbox in the current context.
  static mailbox& of_this_thread(const current_device& current);

  /// Returns the tag for the next result; it is never 0.
  std::uint32_t next_tag() { return tag_ = tag_ == 0xffffffffu ? 1 : tag_ + 1; }

  /// Returns where the kernel writes.
  std::uint64_t* address() { return words_; }

  /// Waits until `count` words with the current tag are there, and gives their payloads.
  /// @throws error if the work on `stream` fails first.
  void wait(cudaStream_t stream, int count, std::uint32_t* payload);

  /// Makes 64 mailboxes in the current context.
  static void make(std::vector<mailbox*>& to);

 private:
  alignas(64) std::uint64_t words_[words] = {};
  std::uint32_t tag_ = 0;
};

}  // namespace tally::backends::cuda
