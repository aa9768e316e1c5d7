// Whether vectors share memory.
#pragma once

#include <tally/operand.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>

namespace tally {

inline std::ptrdiff_t stride_of(const operand& v) {
  return v.increment * static_cast<std::ptrdiff_t>(size_of(v.element));
}

/// The lowest address of a vector's bytes, and how many there are up to the highest.
struct extent {
  std::uintptr_t first;
  std::uintptr_t bytes;
};

inline extent extent_of(const operand& v) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(v.size - 1) * stride_of(v);
  return {
      reinterpret_cast<std::uintptr_t>(v.data) + static_cast<std::uintptr_t>(last < 0 ? last : 0),
      static_cast<std::uintptr_t>(last < 0 ? -last : last) + size_of(v.element)};
}

/// Whether two vectors, each of at least one element, may share a byte. Elements are some multiples
/// of both strides apart, so of the strides' greatest common divisor: vectors are told apart where
/// that keeps them so.
inline bool overlap(const operand& x, const operand& z) {
  const extent a = extent_of(x), b = extent_of(z);
  if (a.first - b.first >= b.bytes && b.first - a.first >= a.bytes) return false;  // modulo 2^64
  const auto period = static_cast<std::uintptr_t>(std::gcd(stride_of(x), stride_of(z)));
  const std::uintptr_t distance = a.first >= b.first
                                      ? (a.first - b.first) % period
                                      : period - 1 - (b.first - a.first - 1) % period;
  return distance < size_of(z.element) || period - distance < size_of(x.element);
}

}  // namespace tally
