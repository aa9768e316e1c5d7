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

}  // namespace tally::backends::simd
