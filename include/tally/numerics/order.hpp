// The order contract, version 1: what decides the bits of a sum in the default grade.
//
// For r = sum f(x_i, y_i), i = 0 ... n-1, accumulated in a type A:
//
//   1. Term t_i is computed in A: inputs converted (to nearest even), the product rounded, no FMA.
//   2. Terms form chunks of `chunk`. In a chunk, lane l of `lanes` starts at +0 and adds t_l,
//      t_(l+lanes), ... in that order. Absent terms are skipped.
//   3. A chunk's lanes fold in halves: lane l takes lane l+32, then l+16, ... l+1.
//   4. Chunk sums combine as a balanced binary tree over the chunk index: pairs (2j, 2j+1), an odd
//      last one passing up unchanged.
//
// Nothing else enters. Reasons and error bound: docs/numerics.md. Another value of a constant gives
// other bits, so a new version; tests/order.cpp pins them.
#pragma once

#include <cstddef>

/// Version, constants and tree of the order contract.
namespace tally::order {

inline constexpr int version = 1;           ///< of the contract, not the library
inline constexpr std::size_t lanes = 64;    ///< partial sums per chunk
inline constexpr std::size_t chunk = 1024;  ///< terms per leaf of the tree

}  // namespace tally::order
