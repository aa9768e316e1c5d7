// Gathering by index on a host, for kernels that read contiguously.
#pragma once

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tally::backends {

/// Writes elements places[0] ... places[n - 1] of `from`, which has a stride in bytes, to `to`.
template <std::size_t size, class Index>
void gather(const std::byte* from, std::ptrdiff_t stride, const Index* places, std::size_t n,
            std::byte* to) {
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(to + i * size, from + static_cast<std::ptrdiff_t>(places[i]) * stride, size);
  }
}

/// The same for elements of a vector, returned as one.
inline operand gathered(const operand& v, const index_vector& places, std::size_t first,
                        std::size_t n, std::byte* to) {
  with_size(v.element, [&]<std::size_t size>() {
    const auto* const from = static_cast<const std::byte*>(v.data);
    const std::ptrdiff_t stride = v.increment * static_cast<std::ptrdiff_t>(size);
    if (places.wide) {
      gather<size>(from, stride, static_cast<const std::int64_t*>(places.data) + first, n, to);
    } else {
      gather<size>(from, stride, static_cast<const std::int32_t*>(places.data) + first, n, to);
    }
  });
  return {to, n, 1, v.element};
}

}  // namespace tally::backends
