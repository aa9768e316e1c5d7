#pragma once

#include "src/core/table.hpp"

namespace tally::backends::simd {

/// Computes a part of a call. With `past_caches` what is written goes to memory at once. The
/// environment must be the default one (`default_environment`).
using transform_node = void(const transform_arguments& part, bool past_caches);

/// Returns the `transform_node` of one instruction set.
transform_node* transform_node_of(instruction_set set);

/// Says whether a call's output had better go past the caches.
bool goes_past_caches(const transform_arguments& arguments);

}  // namespace tally::backends::simd
