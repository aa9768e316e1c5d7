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

/// Returns the dot product of n elements that are contiguous; they are at most a chunk.
double dot_of_chunk(instruction_set set, const double* x, const double* y, std::size_t n);
float dot_of_chunk(instruction_set set, const float* x, const float* y, std::size_t n);

}  // namespace tally::backends::simd
