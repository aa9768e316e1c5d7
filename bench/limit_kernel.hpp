// What the limits of the host's memory run: loads and stores as wide as the processor has them.
#pragma once

#include <tally/executor.hpp>

#include <cstddef>
#include <vector>

namespace bench {

/// Bytes that lie side by side.
struct stretch {
  const std::byte* first = nullptr;
  std::size_t size = 0;
};

/// The functions for one instruction set.
struct limit_kernel {
  tally::instruction_set set;
  /// Reads every byte of two, or of four, stretches at the same time, and returns whether any bit
  /// is 1, so that no compiler leaves the loads out.
  bool (*read_two)(const stretch* from);
  bool (*read_four)(const stretch* from);
  /// Writes the bitwise or of the first `inputs` stretches, 1 or 2, of `size` bytes to z; where
  /// `updates` says so, it reads z, too, and writes the same back. Stores that are `streamed` go
  /// past the caches.
  void (*write)(const std::byte* const* from, int inputs, bool updates, bool streamed, std::byte* z,
                std::size_t size);
};

/// Returns those that this processor can run, the widest last.
const std::vector<const limit_kernel*>& limit_kernels();

}  // namespace bench
