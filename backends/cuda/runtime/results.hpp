// Many results of one call on their way to the caller. They are written where the caller wants
// them. For the form that waits they go into the mailbox, or into pinned memory where they are more
// than the mailbox holds or can't be words; either way the host waits once.
#pragma once

#include "backends/cuda/runtime/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

class results {
 public:
  /// Says how kernels write them for the form that waits.
  enum form : std::uint8_t {
    as_they_are,   ///< tag 0 always
    few_as_words,  ///< as words (words.hpp) where the mailbox holds them
    as_words       ///< as words always
  };

  /// @param to    where the caller wants them.
  /// @param bytes of all; a multiple of 4.
  results(const current_device& current, void* to, std::size_t bytes, bool wait, form how);

  /// Returns the tag of words, or 0 where results are written as they are.
  std::uint32_t tag() const { return tag_; }
  /// Returns where the kernels write the results from byte `offset` on. A word takes 8 bytes for 4.
  void* at(std::size_t offset) const {
    return static_cast<char*>(written_) + (tag_ == 0 ? offset : 2 * offset);
  }

  /// Waits until they are where the caller wants them, if it waits for them.
  void arrive(cudaStream_t stream) const;

 private:
  void* to_;
  std::size_t bytes_;
  bool wait_;
  void* written_;
  mailbox* box_ = nullptr;
  std::uint32_t tag_ = 0;
};

}  // namespace tally::backends::cuda
