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

/// Returns the dot product of n contiguous elements.
double dot_of_numbers(instruction_set set, const double* x, const double* y, std::size_t n);
float dot_of_numbers(instruction_set set, const float* x, const float* y, std::size_t n);

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
