#pragma once

#include "backends/backend.hpp"

namespace tally::backends::simd {

/// How a call passes through memory.
struct memory_use {
  bool past_caches = false;  ///< by non-temporal stores
  bool in_streams = false;   ///< four at a time (tuning/elementwise.md: in_turns)
};
memory_use memory_use_of(const transform_arguments& whole);

/// Computes a part of a call.
/// @pre The default environment.
using transform_node = void(const transform_arguments& part, type computation, memory_use use);

transform_node* transform_node_of(instruction_set set);
/// Returns the `transform_node` of the call's instruction set on `where` (tuning/elementwise.md:
/// transform_node_of).
transform_node* transform_node_of(const executor& where, const transform_arguments& whole);

/// Returns the `transform_node` of all short functions.
transform_node* short_node_of(instruction_set set);
/// Whether a function has nodes; other short ones are serial's, of integers and complex numbers.
constexpr bool has_vectors(elementwise what, type computation) {
  return !detail::is_short(what) || computation == type::float32 || computation == type::float64;
}

/// Updates contiguous vectors of float or double by several at a time, elements [first, first + n):
/// y = beta y + factors_0 x_0 + ..., in this order. y is not read unless `reads_y`.
struct rows_update {
  static constexpr std::size_t max_rows = 8;  // tuning/elementwise.md: max_rows

  std::size_t rows;
  const void* x[max_rows];
  double factors[max_rows];
  double beta;
  bool reads_y;
  void* y;
};
using rows_node = void(type element, const rows_update& update, std::size_t first, std::size_t n);

/// Elements of y that stay in a cache while all vectors are added (tuning/elementwise.md:
/// elements_of_update).
inline constexpr std::size_t elements_of_update = 4096;

/// multi_axpy on elements [first, first + n).
void update_tiles(const executor& where, const multi_axpy_arguments& a, type computation,
                  std::size_t first, std::size_t n);

/// Bytes of all vectors from which they are in memory (tuning/elementwise.md: past_caches_from).
inline constexpr std::size_t past_caches_from = std::size_t{40} << 20;

/// Whether `fill` uses non-temporal stores.
bool goes_past_caches(const output_operand& filled);

using fill_node = void(const element_bytes& value, const output_operand& part, bool past_caches);
fill_node* fill_node_of(instruction_set set);

using swap_node = void(const output_operand& x, const output_operand& y);
swap_node* swap_node_of(instruction_set set);

}  // namespace tally::backends::simd
