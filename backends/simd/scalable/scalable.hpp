// What the simd backend has for scalable vectors: sums and axpby of contiguous float and double.
// The kernels of another instruction set do the rest; calls here fall back to them.
#pragma once

#include "backends/backend.hpp"
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/scalable/chunks.hpp"
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/sums/reduce.hpp"

#include <type_traits>

namespace tally::backends::simd::scalable {

// For float and double.
template <class A>
dot_sum<A> dot(const operand& x, const operand& y);
template <reduction what, class A>
reduce_sum<A> reduce(const operand& x, A scale);
void transform(const transform_arguments& part, type computation, memory_use use);

// Null for sets and types without kernels.

template <class A>
dot_node<A>* dot_node_of([[maybe_unused]] instruction_set set, [[maybe_unused]] type x,
                         [[maybe_unused]] type y) {
  if constexpr (TALLY_HAS_SCALABLE && std::is_floating_point_v<A>) {
    if (set == here && x == type_of<A> && y == x) return &dot<A>;
  }
  return nullptr;
}

template <class A>
reduce_node<A>* reduce_node_of([[maybe_unused]] instruction_set set,
                               [[maybe_unused]] reduction what, [[maybe_unused]] type x) {
  if constexpr (TALLY_HAS_SCALABLE && std::is_floating_point_v<A>) {
    if (set != here || x != type_of<A>) return nullptr;
    switch (what) {
      case reduction::sum:
        return &reduce<reduction::sum, A>;
      case reduction::asum:
        return &reduce<reduction::asum, A>;
      case reduction::nrm2:
        return &reduce<reduction::nrm2, A>;
      default:
        break;
    }
  }
  return nullptr;
}

inline transform_node* transform_node_of([[maybe_unused]] instruction_set set) {
#if TALLY_HAS_SCALABLE
  if (set == here) return &transform;
#endif
  return nullptr;
}

}  // namespace tally::backends::simd::scalable
