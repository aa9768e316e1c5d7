#pragma once

#include "backends/simd/instruction_set.hpp"
#include "src/core/order/dot_sum.hpp"
#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Returns the instruction set for a dot product of n elements of these types. Those of short types
/// compute for longer than they load: on one Zen 4 core 10^4 products of bfloat16 take 441 ns with
/// AVX-512 and 538 with AVX2, 10^6 42.6 and 71.8 us, and of int8 151 and 238 ns, 20.3 and 23.4 us.
/// (Those of float16 are slower with AVX-512: 692 and 542 ns.)
inline instruction_set set_for_dot(const executor& where, type x, type y, std::size_t n) {
  const auto is_byte = [](type t) { return t == type::int8 || t == type::uint8; };
  if ((x == type::bfloat16 && y == type::bfloat16) || (is_byte(x) && is_byte(y))) {
    return for_arithmetic(where);
  }
  const bool is_plain = x == y && (x == type::float64 || x == type::float32);
  return is_plain ? for_cached(where, 2 * n * size_of(x)) : where.instructions();
}

/// Returns the sum over a node of the order's tree. The terms are those of x and y, which start at
/// a chunk's border. The environment must be the default one (`default_environment`).
template <class A>
using dot_node = dot_sum<A>(const operand& x, const operand& y);

/// Returns the `dot_node` for a pair of element types, in one instruction set.
template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y);

/// Are the types whose short dot products know no type at run time, as `dots::of_numbers` has them.
using types_of_short_dots = type_list<double, float, float16, bfloat16, std::int8_t, std::uint8_t>;

/// Returns the dot product of n contiguous elements, of one of `types_of_short_dots`, in any
/// environment. `where` may be `automatic()`, too.
template <class X>
dot_result_t<X, X> dot_of_numbers(const executor& where, const X* x, const X* y, std::size_t n);

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
