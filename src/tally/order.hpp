// The order contract, version 1: what decides the bits of a sum in the default grade.
//
// For r = sum f(x_i, y_i), i = 0 ... n-1, accumulated in a type A:
//   1. Term t_i is computed in A: each input converted to A (to nearest, ties to even), the product
//      rounded. No fused multiply-add.
//   2. Terms are cut into chunks of `chunk`. In a chunk, lane l of `lanes` starts at +0 and adds
//      t_l, t_(l+lanes), ... in that order. Absent terms are skipped.
//   3. A chunk's lanes fold in halves: lane l takes lane l+32, then l+16, ... l+1.
//   4. Chunk sums combine as a balanced binary tree over the chunk index: pairs (2j, 2j+1), an odd
//      last one passing up unchanged.
// Nothing else enters: not the backend, the instruction set, the number of threads, the grid, the
// device, the alignment, the stride or the run. docs/numerics.md has the reasons and the error
// bound.
//
// These constants are part of the interface: another value gives other bits, so a change is a new
// version of the order. tests/order.cpp pins them.
#pragma once

#include <cstddef>

/// The order of sums: its version, its constants and its tree.
namespace tally::order {

inline constexpr int version = 1;           ///< of the contract, not of the library
inline constexpr std::size_t lanes = 64;    ///< partial sums of a chunk
inline constexpr std::size_t chunk = 1024;  ///< terms of a leaf of the tree

}  // namespace tally::order
