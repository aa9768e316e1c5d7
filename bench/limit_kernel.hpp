// Kernels of the host limits, with the processor's widest loads and stores.
#pragma once

#include <tally/executor.hpp>

#include <cstddef>
#include <vector>

namespace bench {

/// Contiguous bytes.
struct stretch {
  const std::byte* first = nullptr;
  std::size_t size = 0;
};

struct limit_kernel {
  tally::instruction_set set;
  /// Reads every byte of two or four blocks at once; returns whether any bit is 1, so that no load
  /// is optimised away.
  bool (*read_two)(const stretch* from);
  bool (*read_four)(const stretch* from);
  /// Writes the bitwise or of `inputs` blocks, 1 or 2, of `size` bytes to z; with `updates` it
  /// rewrites z unchanged. `streamed` stores bypass the caches.
  void (*write)(const std::byte* const* from, int inputs, bool updates, bool streamed, std::byte* z,
                std::size_t size);
};

/// Usable ones, widest last.
const std::vector<const limit_kernel*>& limit_kernels();

}  // namespace bench
