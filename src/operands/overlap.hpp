// Overlap of vectors. Backends read and write in any order, so outputs overlap neither inputs nor
// each other; but element-wise functions may update an input, and a single value written last (dot,
// sum, asum, nrm2) may go anywhere.
#pragma once

#include <tally/operands/operand.hpp>
#include <tally/operations/multi_dot.hpp>

#include "src/check.hpp"

#include <cstdint>

namespace tally {

/// Lowest address, and bytes up to the highest.
struct extent {
  std::uintptr_t first = 0;
  std::uintptr_t bytes = 0;

  /// The range of n > 0 blocks, `stride` bytes apart. Pre: `check::has_reach`.
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

/// If extents meet, elements may interleave.
void check_interleaved(const check& check, const char* x_name, const operand& x, const char* z_name,
                       const operand& z);
void check_interleaved_or_same(const check& check, const char* x_name, const operand& x,
                               const char* z_name, const operand& z);

/// z shares no byte with x. Inline comparison, for short calls.
/// @throws error overlap.
inline void check_apart(const check& check, const char* x_name, const operand& x,
                        const char* z_name, const operand& z) {
  if (x.size == 0 || z.size == 0 || !extent(x).meets(extent(z))) return;
  check_interleaved(check, x_name, x, z_name, z);
}

/// z shares no byte with any row.
/// @throws error overlap.
void check_rows_apart(const check& check, const char* x_name, const operand_rows& x,
                      const char* z_name, const operand& z);

/// z may also be x: equal address and stride. Pre: equal sizes.
/// @throws error overlap.
inline void check_apart_or_same(const check& check, const char* x_name, const operand& x,
                                const char* z_name, const operand& z) {
  if (x.size == 0 || !extent(x).meets(extent(z))) return;
  check_interleaved_or_same(check, x_name, x, z_name, z);
}

}  // namespace tally
