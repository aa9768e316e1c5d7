#pragma once

#include "src/core/order/dot_sum.hpp"
#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Returns the sum over a node of the order's tree. The terms are those of x and y, which start at
/// a chunk's border. The environment must be the default one (`default_environment`).
template <class A>
using dot_node = dot_sum<A>(const operand& x, const operand& y);

/// Returns the `dot_node` for a pair of element types, in one instruction set.
template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y);

/// Are the types whose short dot products know no type at run time, as `dots::of_numbers` has them.
using types_of_short_dots = type_list<double, float, float16, bfloat16, std::int8_t, std::uint8_t>;

/// Returns the dot product of n contiguous elements, of one of `types_of_short_dots`.
template <class X>
dot_result_t<X, X> dot_of_numbers(instruction_set set, const X* x, const X* y, std::size_t n);

/// Are contiguous rows of a block.
template <class W>
struct rows_of {
  const W* first;
  std::ptrdiff_t leading_dimension;  ///< 0: all rows are the same vector
};

/// Writes the dot products of `count` rows of x with those of y; a row has n elements, which
/// are at most a chunk.
void dots_of_rows(instruction_set set, rows_of<double> x, rows_of<double> y, std::size_t n,
                  std::size_t count, double* results);
void dots_of_rows(instruction_set set, rows_of<float> x, rows_of<float> y, std::size_t n,
                  std::size_t count, float* results);

}  // namespace tally::backends::simd
