#pragma once

#include "backends/simd/vectors/instruction_set.hpp"

#include <tally/operands/operand.hpp>

#include <cstddef>

namespace tally::backends::simd {

/// Vectors whose elements with one index lie closer than neighbours in a vector, such as the
/// columns of a row-major matrix.
struct columns {
  operand first;                ///< vector 0
  std::ptrdiff_t distance = 1;  ///< elements from a vector to the next
  std::size_t count = 0;        ///< numbers of a row: vectors, twice as many for complex elements
  const operand* y = nullptr;   ///< real; null: terms are elements alone

  /// Terms [begin, begin + n) of vectors from `vector` on; `y` is not sliced.
  columns part(std::size_t vector, std::size_t vectors, std::size_t begin, std::size_t n) const {
    columns c = *this;
    operand row = first;
    row.increment = distance;
    c.first.data = row.slice(vector, 1).data;
    c.first = c.first.slice(begin, n);
    c.count = vectors * (is_complex(first.element) ? 2 : 1);
    return c;
  }
};

/// Numbers that are summed side by side, at most (tuning/multi_dot.md: max_columns).
template <class W>
inline constexpr std::size_t max_columns = 8192 / sizeof(W);

/// Sums each vector over a node of the order's tree, in float, double, or uint64 for integers;
/// zeros are +0. Terms are products with `y`, of the node's elements, unless it is null.
/// @pre The default environment. At most `max_columns` numbers.
template <class W>
void sum_columns(instruction_set set, const columns& x, W* sums);

}  // namespace tally::backends::simd
