// Results on their way to the caller. A call that waits gets them through the result_buffer, else
// through pinned memory, and waits once.
#pragma once

#include "backends/cuda/runtime/results/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

class results {
 public:
  /// Form in which kernels write the results of calls that wait.
  enum form : std::uint8_t {
    as_they_are,   ///< tag 0
    few_as_words,  ///< as tagged words if the result_buffer holds them
    as_words       ///< as tagged words
  };

  /// @param to    destination.
  /// @param bytes of all results; a multiple of 4, except in a single result.
  results(const current_device& current, void* to, std::size_t bytes, bool wait, form how);

  std::uint32_t tag() const { return tag_; }
  /// Returns where byte `offset` is written. A word takes 8 bytes for 4.
  void* at(std::size_t offset) const {
    return static_cast<char*>(written_) + (tag_ == 0 ? offset : 2 * offset);
  }

  /// Waits, if the call does, for the results at their destination.
  void arrive(cudaStream_t stream) const;

 private:
  void* to_;
  std::size_t bytes_;
  bool wait_;
  void* written_;
  result_buffer* box_ = nullptr;
  std::uint32_t tag_ = 0;
};

}  // namespace tally::backends::cuda
