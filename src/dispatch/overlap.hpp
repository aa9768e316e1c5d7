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

/// These do the same as the functions below for vectors whose extents meet: elements may
/// interleave.
void check_interleaved(const check& check, const char* x_name, const operand& x, const char* z_name,
                       const operand& z);
void check_interleaved_or_same(const check& check, const char* x_name, const operand& x,
                               const char* z_name, const operand& z);

/// z must share no byte with x. Extents are compared in the caller's code, since a short call
/// spends most of its time outside the kernel.
/// @throws error overlap.
inline void check_apart(const check& check, const char* x_name, const operand& x,
                        const char* z_name, const operand& z) {
  if (x.size == 0 || z.size == 0 || !extent(x).meets(extent(z))) return;
  check_interleaved(check, x_name, x, z_name, z);
}

/// The same, but z may be x: the same address, and as many bytes from one element to the next. Both
/// have as many elements.
/// @throws error overlap.
inline void check_apart_or_same(const check& check, const char* x_name, const operand& x,
                                const char* z_name, const operand& z) {
  if (x.size == 0 || !extent(x).meets(extent(z))) return;
  check_interleaved_or_same(check, x_name, x, z_name, z);
}

}  // namespace tally
