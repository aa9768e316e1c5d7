#pragma once

#include "backends/common/order/scan_nodes.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

namespace tally::backends::simd {

/// Scan of real vectors from a chunk's border on, after the nodes `before`, to which whole chunks
/// are added.
/// @pre The default environment.
template <class R>
using scan_part = void(const operand& x, const output_operand& y, bool exclusive,
                       scan_nodes<R>& before);

template <class R>
scan_part<R>* scan_part_of(instruction_set set);

}  // namespace tally::backends::simd
