#include "src/overlap.hpp"

#include <cstdint>
#include <numeric>

namespace tally {
namespace {

std::ptrdiff_t stride_of(const operand& v) {
  return v.increment * static_cast<std::ptrdiff_t>(size_of(v.element));
}

std::uintptr_t address_of(const operand& v) { return reinterpret_cast<std::uintptr_t>(v.data); }

/// Whether element i is at the same place in both, of vectors of the same size.
bool is_same(const operand& x, const operand& z) {
  return x.data == z.data && stride_of(x) == stride_of(z);
}

/// The lowest address of a vector's bytes, and how many there are up to the highest.
struct extent {
  std::uintptr_t first;
  std::uintptr_t bytes;
};

extent extent_of(const operand& v) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(v.size - 1) * stride_of(v);
  return {address_of(v) + static_cast<std::uintptr_t>(last < 0 ? last : 0),
          static_cast<std::uintptr_t>(last < 0 ? -last : last) + size_of(v.element)};
}

}  // namespace

// Elements are some multiples of both strides apart, so of the strides' greatest common divisor:
// vectors are told apart where that keeps them so.
bool overlap(const operand& x, const operand& z) {
  const extent a = extent_of(x), b = extent_of(z);
  if (a.first - b.first >= b.bytes && b.first - a.first >= a.bytes) return false;  // modulo 2^64
  const auto period = static_cast<std::uintptr_t>(std::gcd(stride_of(x), stride_of(z)));
  const std::uintptr_t distance = a.first >= b.first
                                      ? (a.first - b.first) % period
                                      : period - 1 - (b.first - a.first - 1) % period;
  return distance < size_of(z.element) || period - distance < size_of(x.element);
}

void check_overlap(const check& check, const char* x_name, const operand& x, const char* z_name,
                   const operand& z) {
  if (x.size == 0 || is_same(x, z) || !overlap(x, z)) return;
  const extent a = extent_of(x), b = extent_of(z);
  const bool after = b.first >= a.first;
  check.fail(errc::overlap, z_name, " overlaps ", x_name, ": it begins ",
             std::size_t{after ? b.first - a.first : a.first - b.first},
             after ? " bytes after " : " bytes before ", x_name, ", which takes ",
             std::size_t{a.bytes}, "; it may be ", x_name, " itself");
}

}  // namespace tally
