#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

namespace tally::backends {
template <class A>
struct row_kernels;  // backends/common/sparse/row_kernels.hpp
}

namespace tally::backends::simd {

/// Sum over a node of the order's tree of elements times `scale`; x starts at a chunk's border.
/// @pre The default environment.
template <class A>
using reduce_node = reduce_sum<A>(const operand& x, real_t<A> scale);

inline instruction_set set_for_reduce(const executor& where, type x, std::size_t n) {
  const bool is_plain = x == type::float64 || x == type::float32;
  return is_plain ? for_cached(where, n * size_of(x)) : where.instructions();
}

template <class A>
reduce_node<A>* reduce_node_of(instruction_set set, reduction what, type x);

/// Writes the sums of `count` rows of n elements each.
/// @pre n is at most a chunk.
template <class W>
void sums_of_rows(instruction_set set, rows_of<W> x, std::size_t n, std::size_t count, W* results);

/// Returns the kernels of rows of integers, values alone.
row_kernels<std::int64_t> integer_rows_of(instruction_set set, type values);

/// Sum of (x_i * w_i)^2 over a node, the vectors likewise.
template <class R>
using weighted_node = R(const operand& x, const operand& w, const std::optional<operand>& mask);

template <class R>
weighted_node<R>* weighted_node_of(instruction_set set);

}  // namespace tally::backends::simd
