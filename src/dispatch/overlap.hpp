// Whether vectors share memory. Outputs share none with inputs, nor with each other, since backends
// read and write in orders of their own; but an element-wise function may update its input, and one
// value that is written when all has been read (of dot, sum, asum, nrm2) may go anywhere.
#pragma once

#include <tally/operand.hpp>

#include "src/dispatch/check.hpp"

#include <cstdint>

namespace tally {

/// The lowest address of a vector's bytes, and how many there are up to the highest.
struct extent {
  std::uintptr_t first = 0;
  std::uintptr_t bytes = 0;

  /// The extent of n > 0 blocks of so many bytes, `stride` bytes apart, that `check::has_reach`.
  extent(const void* data, std::size_t n, std::ptrdiff_t stride, std::size_t block)
      : first(reinterpret_cast<std::uintptr_t>(data)) {
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(n - 1) * stride;
    first += static_cast<std::uintptr_t>(last < 0 ? last : 0);
    bytes = static_cast<std::uintptr_t>(last < 0 ? -last : last) + block;
  }
  explicit extent(const operand& v)
      : extent(v.data, v.size, v.increment * static_cast<std::ptrdiff_t>(size_of(v.element)),
               size_of(v.element)) {}

  bool meets(const extent& other) const {  // modulo 2^64
    return first - other.first < other.bytes || other.first - first < bytes;
  }
};

/// Whether they may share a byte. Both have elements, and a reach that was checked.
bool overlap(const operand& x, const operand& z);

/// z must share no byte with x.
/// @throws error overlap.
void check_apart(const check& check, const char* x_name, const operand& x, const char* z_name,
                 const operand& z);

/// The same, but z may be x: the same address, and as many bytes from one element to the next. Both
/// have as many elements.
/// @throws error overlap.
void check_apart_or_same(const check& check, const char* x_name, const operand& x,
                         const char* z_name, const operand& z);

}  // namespace tally
