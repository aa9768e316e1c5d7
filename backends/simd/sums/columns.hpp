#pragma once

#include "backends/simd/vectors/instruction_set.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/operand.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

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

template <class W>
inline constexpr type stored_as =
    type_of<std::conditional_t<std::is_integral_v<W>, std::int64_t, W>>;

/// Whether rows are numbers in place.
template <class W>
bool is_direct(const columns& x) {
  return x.distance == 1 && part_of(x.first.element) == stored_as<W> &&
         !(std::is_integral_v<W> && x.y != nullptr);
}

/// Whether rows are summed lane by lane (tuning/multi_dot.md: lane_by_lane).
template <class W>
bool is_lane_by_lane(const columns& x) {
  constexpr std::size_t min_columns = 512 / sizeof(W);
  return x.count >= min_columns && x.first.size > 0 && is_direct<W>(x) &&
         (x.y == nullptr || (x.y->increment == 1 && x.y->element == stored_as<W>));
}

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
/// of them, in whole cache lines. Only rows summed lane by lane use it.
template <class W>
void sum_columns(instruction_set set, const columns& x, W* sums, std::span<W> workspace = {});

}  // namespace tally::backends::simd
