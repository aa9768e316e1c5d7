#pragma once

#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Computes a part of a call. With `past_caches` what is written goes to memory at once. The
/// environment must be the default one (`default_environment`).
using transform_node = void(const transform_arguments& part, type computation, bool past_caches);

/// Returns the `transform_node` of one instruction set.
transform_node* transform_node_of(instruction_set set);
/// Returns that of the instruction set in which `where` computes the function.
transform_node* transform_node_of(const executor& where, elementwise what);

/// Outputs go past the caches from so many bytes of all vectors together on. The figures are for
/// `add` of floats on Zen 4 with 32 MiB of L3: its time with plain stores over that past the
/// caches, on one core, on two, and on one that then reads what was written. 16 MiB: 1.09, 0.47,
/// 0.78; 24 MiB: 1.48, 0.70, 0.95; 32 MiB: 1.62, 0.86, 0.89; 40 MiB: 1.83, 1.61, 1.18; 48 MiB:
/// 1.47, 1.47, 1.17; 64 MiB: 1.91, 1.26, 1.20; 192 MiB: 1.33, 1.55, 1.37.
inline constexpr std::size_t past_caches_from = std::size_t{40} << 20;

/// Says whether a call's output had better go past the caches.
bool goes_past_caches(const transform_arguments& arguments);
bool goes_past_caches(const output_operand& filled);

/// Fills a part of a vector, as above.
using fill_node = void(const element_bytes& value, const output_operand& part, bool past_caches);
fill_node* fill_node_of(instruction_set set);

/// Exchanges the elements of parts of two vectors.
using swap_node = void(const output_operand& x, const output_operand& y);
swap_node* swap_node_of(instruction_set set);

}  // namespace tally::backends::simd
