#pragma once

#include "backends/simd/vectors/instruction_set.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/operand.hpp>

#include <bit>
#include <cstddef>
#include <span>

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

/// Numbers that are summed side by side, at most, and with a workspace (tuning/multi_dot.md:
/// max_columns, max_wide).
template <class W>
inline constexpr std::size_t max_columns = 8192 / sizeof(W);
template <class W>
inline constexpr std::size_t max_wide = (std::size_t{128} << 10) / sizeof(W);

/// Rows that gain nothing from a workspace, at most.
inline constexpr std::size_t max_narrow_rows = 4 * order::lanes;

/// Buffers of a row that sums of n rows need, above `max_narrow_rows`: one per level of the chunks'
/// tree, and of the lanes' tree above leaves and their sums.
constexpr std::size_t column_buffers(std::size_t n) {
  return static_cast<std::size_t>(std::bit_width((n - 1) / order::chunk)) + 5;
}

/// Sums each vector over a node of the order's tree, in float, double, or uint64 for integers;
/// zeros are +0. Terms are products with `y`, of the node's elements, unless it is null.
/// @pre The default environment. At most `max_columns` numbers; or `workspace` has `column_buffers`
/// of them, in whole cache lines.
template <class W>
void sum_columns(instruction_set set, const columns& x, W* sums, std::span<W> workspace = {});

}  // namespace tally::backends::simd
