#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

namespace tally::backends::simd {

/// Returns the instruction set for a dot product of n elements. bfloat16 and bytes are
/// compute-bound, so they gain from wide instructions (tuning/dot.md: set_for_dot).
inline instruction_set set_for_dot(const executor& where, type x, type y, std::size_t n) {
  const auto is_byte = [](type t) { return t == type::int8 || t == type::uint8; };
  if ((x == type::bfloat16 && y == type::bfloat16) || (is_byte(x) && is_byte(y))) {
    return for_arithmetic(where);
  }
  const bool is_plain = x == y && (x == type::float64 || x == type::float32);
  return is_plain ? for_cached(where, 2 * n * size_of(x)) : where.instructions();
}

/// Sum over a node of the order's tree; x and y start at a chunk's border.
/// @pre The default environment.
template <class A>
using dot_node = dot_sum<A>(const operand& x, const operand& y);

template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y);

template <class W>
struct rows_of {
  const W* first;
  std::ptrdiff_t leading_dimension;  ///< 0: all rows are one vector
};

/// Writes the dot products of `count` rows of x with those of y, of n elements each.
/// @pre n is at most a chunk.
template <class W>
void dots_of_rows(instruction_set set, rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count,
                  W* results);

}  // namespace tally::backends::simd
