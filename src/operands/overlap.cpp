#include "src/operands/overlap.hpp"

#include <numeric>

namespace tally {
namespace {

std::ptrdiff_t stride_of(const operand& v) {
  return v.increment * static_cast<std::ptrdiff_t>(size_of(v.element));
}

/// Equal-sized vectors with each element at the same address.
bool is_same(const operand& x, const operand& z) {
  return x.data == z.data && stride_of(x) == stride_of(z);
}

// Pre: nonempty, checked, meeting extents. Elements are multiples of both strides apart, hence of
// their gcd.
bool overlap(const operand& x, const operand& z) {
  const extent a(x), b(z);
  const auto period = static_cast<std::uintptr_t>(std::gcd(stride_of(x), stride_of(z)));
  const std::uintptr_t distance = a.first >= b.first
                                      ? (a.first - b.first) % period
                                      : period - 1 - (b.first - a.first - 1) % period;
  return distance < size_of(z.element) || period - distance < size_of(x.element);
}

}  // namespace

void check_interleaved(const check& check, const char* x_name, const operand& x, const char* z_name,
                       const operand& z) {
  if (!overlap(x, z)) return;
  check.fail(errc::overlap, z_name, " overlaps ", x_name);
}

void check_rows_apart(const check& check, const char* x_name, const operand_rows& x,
                      const char* z_name, const operand& z) {
  if (x.rows == 0 || x.first.size == 0 || z.size == 0) return;
  const auto size = static_cast<std::ptrdiff_t>(size_of(x.first.element));
  const bool is_one = x.is_one_block();
  const std::size_t rows = is_one ? x.rows : x.rows_per_block;
  const extent row(x.first);
  extent block(x.first.data, rows, x.leading_dimension * size, row.bytes);
  block.first -= reinterpret_cast<std::uintptr_t>(x.first.data) - row.first;
  const extent blocks(x.first.data, (x.rows - 1) / rows + 1, is_one ? 0 : x.block_stride * size,
                      block.bytes);
  extent all = blocks;
  all.first -= reinterpret_cast<std::uintptr_t>(x.first.data) - block.first;
  if (!all.meets(extent(z))) return;
  for (std::size_t j = 0; j < x.rows; ++j) {  // there may be gaps between rows
    check_apart(check, x_name, x[j], z_name, z);
  }
}

void check_interleaved_or_same(const check& check, const char* x_name, const operand& x,
                               const char* z_name, const operand& z) {
  if (is_same(x, z) || !overlap(x, z)) return;
  const extent a(x), b(z);
  const bool after = b.first >= a.first;
  check.fail(errc::overlap, z_name, " overlaps ", x_name, ": it begins ",
             std::size_t{after ? b.first - a.first : a.first - b.first},
             after ? " bytes after " : " bytes before ", x_name, ", which takes ",
             std::size_t{a.bytes}, "; it may be ", x_name, " itself");
}

}  // namespace tally
